"""The review queue for any client: the next and the previous record that waits, shown in the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from memidex.lsp.requests import text
from memidex.text import Span

if TYPE_CHECKING:
    from memidex.learning.review import Item
    from memidex.lsp.scene import Scene
    from memidex.lsp.server import App


async def step(app: App, wanted: dict[str, Any], forward: int) -> dict[str, Any] | None:
    """Show the neighbour of the record `{"uri"}` in the queue, or its first (last) one; None where nothing waits.

    The queue is a ring: after the last record comes the first. A record that no longer waits has the first one after it.
    """
    from memidex.learning.review import queue

    uri = text(wanted, "uri")
    await app.session.discovered.wait()
    scene = app.scene()
    items = await app.session.away(queue, scene.snapshot.roots)
    if not items:
        return None
    path = app.session.path(uri) if uri else None
    here = next((at for at, item in enumerate(items) if path and path.startswith(item.entry.directory + "/")), None)
    at = (0 if forward > 0 else len(items) - 1) if here is None else (here + forward) % len(items)
    return await show(app, scene, items[at], at + 1, len(items))


async def show(app: App, scene: Scene, item: Item, position: int, total: int) -> dict[str, Any]:
    path = f"{item.entry.directory}/record.md"
    uri = app.session.uri(path)
    place = await app.session.away(title, app, scene, path)
    if app.capability("window", "show_document", "support"):
        params = types.ShowDocumentParams(uri, take_focus=True, selection=place)
        app.server.protocol.send_request(types.WINDOW_SHOW_DOCUMENT, params)
    at = {"line": place.start.line, "character": place.start.character}
    return {
        "uri": uri,
        "range": {"start": at, "end": at},
        "record": item.entry.id,
        "reason": item.reason,
        "message": item.message,
        "position": position,
        "total": total,
    }


def title(app: App, scene: Scene, path: str) -> types.Range:
    """Where the summary of a record begins."""
    from memidex.editor import subject
    from memidex.editor.view import View

    found = subject.title(View(scene.snapshot, path, app.session.text(path)))
    start = found[1].start if found else 0
    return scene.range(path, Span(start, start))
