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


async def step(app: App, walked: list[str], wanted: dict[str, Any], forward: int) -> dict[str, Any] | None:
    """Show the neighbour of the record `{"uri"}` in the queue, or its first (last) one; None where nothing waits.

    The queue is a ring: after the last record comes the first. `walked` are the folders of the queue as it was walked
    last; it is kept up to date here.
    """
    from memidex.learning.review import queue

    uri = text(wanted, "uri")
    await app.session.discovered.wait()
    scene = app.scene()
    items = await app.session.away(queue, scene.snapshot.roots)
    folders = [item.entry.directory for item in items]
    path = app.session.path(uri) if uri else None
    at = neighbour(folders, walked, path, forward)
    walked[:] = folders
    return None if at is None else await show(app, scene, items[at], at + 1, len(items))


def neighbour(folders: list[str], walked: list[str], path: str | None, forward: int) -> int | None:
    """Where in the queue the neighbour of the record is that a file belongs to; None where the queue is empty.

    A record that was decided since the queue was walked waits no longer: its neighbour is then the one that it had there.
    """
    if not folders:
        return None
    places = {folder: at for at, folder in enumerate(folders)}
    for ring in (folders, walked):
        here = next((at for at, folder in enumerate(ring) if path and path.startswith(folder + "/")), None)
        if here is not None:
            after = (ring[(here + forward * far) % len(ring)] for far in range(1, len(ring) + 1))
            return next((places[folder] for folder in after if folder in places), 0)
    return 0 if forward > 0 else len(folders) - 1


async def show(app: App, scene: Scene, item: Item, position: int, total: int) -> dict[str, Any]:
    path = f"{item.entry.directory}/record.md"
    uri = app.session.uri(path)
    place, message = await app.session.away(lambda: (title(app, scene, path), item.message))
    if app.capability("window", "show_document", "support"):
        params = types.ShowDocumentParams(uri, take_focus=True, selection=place)
        app.server.protocol.send_request(types.WINDOW_SHOW_DOCUMENT, params)
    at = {"line": place.start.line, "character": place.start.character}
    return {
        "uri": uri,
        "range": {"start": at, "end": at},
        "record": item.entry.id,
        "reason": item.reason,
        "message": message,
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
