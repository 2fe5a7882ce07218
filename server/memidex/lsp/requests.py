"""Requests of our own, for clients that show records in views: `memidex/card`, `memidex/inspect`, `memidex/timeline`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from memidex.lsp.wire import Cancelled, InvalidParams

if TYPE_CHECKING:
    from memidex.lsp.scene import Scene
    from memidex.lsp.server import App
    from memidex.store.snapshot import Entry, Root

PAGE = 200
LARGEST_PAGE = 1_000


def register(app: App) -> None:
    server = app.server

    @server.feature("memidex/card")
    async def card(params: Any) -> Any:
        """The card of `{uri | id}`, with `asOfBuild` as it was then; null where there is none."""
        from memidex.editor import card as cards

        wanted = members(params)
        build = number(wanted, "asOfBuild", None)
        pair = await record(app, wanted)
        return await server.run_cancellable(lambda _cancelled: cards.card(*pair, build)) if pair else None

    @server.feature("memidex/timeline")
    async def timeline(params: Any) -> Any:
        """The events of `{uri | id}` in the order they count, each with trust and status after it; null without record."""
        from memidex.editor import card as cards

        pair = await record(app, members(params))
        if pair is None:
            return None
        root, entry = pair

        def answer(_cancelled: Cancelled) -> Any:
            bundle = root.bundle(entry)
            events = [cards.event_row(step) for step in cards.steps(bundle)] if bundle else []
            return {"id": entry.id, "created": entry.created, "events": events}

        return await server.run_cancellable(answer)

    @server.feature("memidex/inspect")
    async def inspect(params: Any) -> Any:
        """A page of records, `{root, status, kind, product, asOfBuild, offset, limit}`, each optional, by root and id."""
        from memidex.editor import card as cards

        wanted = members(params)
        app.follows = True
        await app.session.discovered.wait()
        scene = app.scene()
        offset, limit = page(wanted)
        build = number(wanted, "asOfBuild", None)
        roots = roots_named(app, scene, wanted)
        fields = {name: text(wanted, name) for name in ("status", "kind", "product")}

        def answer(cancelled: Cancelled) -> Any:
            # As of a build, the status is only known once a record's log was read.
            late = fields["status"] if build is not None else None
            early = {**fields, "status": None if build is not None else fields["status"]}
            found: list[Any] = []
            total = 0
            for root, entry in chosen(roots, early):
                cancelled.check()
                if build is not None and entry.created > build:
                    continue
                if late is None and not offset <= total < offset + limit:
                    total += 1
                    continue
                row = cards.row(root, entry, build)
                if row is None or (late is not None and row["status"] != late):
                    continue
                if offset <= total < offset + limit:
                    found.append(row)
                total += 1
            ordinals = {name: root.product(name).current for root in scene.snapshot.roots for name in root.products}
            return {"version": 1, "ordinals": ordinals, "total": total, "offset": offset, "records": found}

        return await server.run_cancellable(answer)

    @server.feature("memidex/reviewQueue")
    async def review_queue(params: Any) -> Any:
        """A page of what waits for a person, `{root, product, offset, limit}`, each optional, the riskiest first."""
        from memidex.editor import card as cards
        from memidex.learning import review

        wanted = members(params)
        app.follows = True
        await app.session.discovered.wait()
        scene = app.scene()
        offset, limit = page(wanted)
        roots, product = roots_named(app, scene, wanted), text(wanted, "product")

        def answer(cancelled: Cancelled) -> Any:
            items = review.queue(roots, product)
            cancelled.check()
            counts = dict.fromkeys(review.REASONS, 0)
            for item in items:
                counts[item.reason] += 1
            rows = [
                reviewed(item, row)
                for item in items[offset : offset + limit]
                if (row := cards.row(item.root, item.entry))
            ]
            return {"version": 1, "total": len(items), "counts": counts, "offset": offset, "records": rows}

        def reviewed(item: review.Item, row: dict[str, Any]) -> dict[str, Any]:
            return {
                **row,
                **cards.review(item),
                "root": item.root.path,
                "fileUri": app.session.uri(f"{item.entry.directory}/record.md"),
            }

        return await server.run_cancellable(answer)


def page(wanted: dict[str, Any]) -> tuple[int, int]:
    """Where the page that a request asks for begins, and how long it is at most."""
    return number(wanted, "offset", 0) or 0, min(number(wanted, "limit", PAGE) or PAGE, LARGEST_PAGE)


def roots_named(app: App, scene: Scene, wanted: dict[str, Any]) -> list[Root]:
    """The open roots, or the one that a request names by its path or URI; none where that is not open."""
    where = text(wanted, "root")
    path = app.session.path(where) if where is not None and where.startswith("file:") else where
    path = path.rstrip("/") if path else path
    return [root for root in scene.snapshot.roots if where is None or root.path == path]


def chosen(roots: Iterable[Root], fields: dict[str, str | None]) -> Iterator[tuple[Root, Entry]]:
    for root in roots:
        for entry in sorted(root.entries.values(), key=lambda item: (item.id, item.directory)):
            if all(wanted in (None, getattr(entry, name)) for name, wanted in fields.items()):
                yield root, entry


async def record(app: App, wanted: dict[str, Any]) -> tuple[Root, Entry] | None:
    """The record that a request of a view names; whoever asks is told from then on what moves."""
    app.follows = True
    return await addressed(app, wanted)


async def addressed(app: App, wanted: dict[str, Any]) -> tuple[Root, Entry] | None:
    """The record that a request names: by the URI of one of its files, or by an exact address."""
    uri, name = text(wanted, "uri"), text(wanted, "id")
    path = app.session.path(uri) if uri else None
    if path:
        await app.session.ready(path)
        scene = app.scene()
        root = scene.snapshot.root_of(path)
        held = root.of_file(path) if root else None
        if root is None or held is None or name is None:
            return (root, held[0]) if root and held else None
        found = root.find(name)
        return (root, found) if found else None
    address = name or uri
    if address is None:
        raise InvalidParams("Invalid Params: `uri` or `id` is needed")
    await app.session.discovered.wait()
    pairs = ((root, root.find(address)) for root in app.scene().snapshot.roots)
    return next(((root, entry) for root, entry in islice(pairs, 1000) if entry), None)


def members(params: Any) -> dict[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise InvalidParams("Invalid Params: an object is needed")
    return cast(dict[str, Any], params)


def text(wanted: dict[str, Any], name: str) -> str | None:
    value = wanted.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidParams(f"Invalid Params: `{name}` is a string")
    return value


def number(wanted: dict[str, Any], name: str, default: int | None) -> int | None:
    value = wanted.get(name, default)
    if value is not None and (type(value) is not int or value < 0):
        raise InvalidParams(f"Invalid Params: `{name}` is a whole number from 0")
    return value
