"""What the editor shows, feature by feature: positions to offsets, a call into `editor` on a worker, values to LSP."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types

from memidex.lsp.wire import Cancelled
from memidex.text import Span

if TYPE_CHECKING:
    from memidex.editor.completion import Completion
    from memidex.editor.definition import Target
    from memidex.editor.hierarchy import Item
    from memidex.editor.lenses import Lens
    from memidex.editor.symbols import Symbol
    from memidex.lsp.scene import Scene, Seen
    from memidex.lsp.server import App
    from memidex.store.snapshot import Entry, Root

T = TypeVar("T")

MAX_REFERENCES = 10_000
MAX_WORKSPACE_SYMBOLS = 128
COMPLETION_KINDS = {
    "field": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "shape": types.CompletionItemKind.Struct,
    "record": types.CompletionItemKind.Reference,
    "event": types.CompletionItemKind.Event,
    "rule": types.CompletionItemKind.Constant,
}
SYMBOL_KINDS = {
    "field": types.SymbolKind.Field,
    "anchor": types.SymbolKind.Key,
    "section": types.SymbolKind.String,
    "build": types.SymbolKind.Namespace,
    "event": types.SymbolKind.Event,
    "relation": types.SymbolKind.Interface,
}


def pressed(lens: Lens) -> types.Command:
    """What a lens does; one that only tells something does nothing."""
    if not lens.command:
        return types.Command(lens.text, "")
    return types.Command(lens.text, lens.command, arguments=[lens.argument])


def register(app: App) -> None:
    """Register every feature that reads. Each module of `editor` is imported when it is first asked."""
    server = app.server

    async def see(document: types.TextDocumentIdentifier, answer: Callable[[Seen], T]) -> T | None:
        """What a worker answers about a document; None for one that is nobody's."""
        seen = await app.seen(document.uri)
        return await server.run_cancellable(lambda _cancelled: answer(seen)) if seen else None

    def markup(markdown: str, formats: Iterable[object] | None) -> types.MarkupContent:
        from memidex.lsp.scene import plaintext, without_images

        if formats is not None and types.MarkupKind.Markdown not in formats:
            return types.MarkupContent(types.MarkupKind.PlainText, plaintext(markdown))
        return types.MarkupContent(types.MarkupKind.Markdown, markdown if app.draws else without_images(markdown))

    def places(
        seen: Seen, targets: Iterable[Target], *, links: bool
    ) -> list[types.Location] | list[types.LocationLink] | None:
        if not links:
            return [seen.location(target.path, target.span) for target in targets] or None
        found: list[types.LocationLink] = []
        for target in targets:
            span = seen.range(target.path, target.span)
            found.append(types.LocationLink(seen.uri(target.path), span, span, seen.here(target.origin)))
        return found or None

    # What stands here -------------------------------------------------------------------------------------------------

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        from memidex.editor import hover as hovers

        def answer(seen: Seen) -> types.Hover | None:
            found = hovers.hover(seen.view, seen.at(params.position))
            formats = app.capability("text_document", "hover", "content_format")
            return types.Hover(markup(found.markdown, formats), seen.here(found.span)) if found else None

        return await see(params.text_document, answer)

    async def define(params: types.DefinitionParams | types.DeclarationParams, name: str) -> Any:
        from memidex.editor.definition import definitions

        links = bool(app.capability("text_document", name, "link_support"))
        return await see(
            params.text_document,
            lambda seen: places(seen, definitions(seen.view, seen.at(params.position)), links=links),
        )

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> Any:
        return await define(params, "definition")

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    async def declaration(params: types.DeclarationParams) -> Any:
        return await define(params, "declaration")

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        from memidex.editor.definition import definitions, each_reference

        seen = await app.seen(params.text_document.uri)
        if seen is None:
            return None

        def answer(cancelled: Cancelled) -> list[types.Location] | None:
            offset = seen.at(params.position)
            texts = [(path, seen.text(path)) for path in seen.documents if path.endswith((".md", ".json"))]
            found: set[Target] = set()
            for target in islice(each_reference(seen.view, offset, texts), MAX_REFERENCES):
                cancelled.check()
                found.add(target)
            if params.context.include_declaration:
                found.update(definitions(seen.view, offset))
            return [seen.location(path, span) for path, span in sorted({target[:2] for target in found})] or None

        return await server.run_cancellable(answer)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        from memidex.editor import definition as module

        tooltips = bool(app.capability("text_document", "document_link", "tooltip_support"))
        return await see(
            params.text_document,
            lambda seen: [
                types.DocumentLink(seen.here(link.span), seen.uri(link.path), link.tooltip if tooltips else None)
                for link in module.links(seen.view)
            ],
        )

    # What is there ----------------------------------------------------------------------------------------------------

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbols(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
        from memidex.editor import symbols

        nested = bool(app.capability("text_document", "document_symbol", "hierarchical_document_symbol_support"))

        def answer(seen: Seen) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
            found = symbols.document_symbols(seen.view)
            return [tree(seen, item) for item in found] if nested else flat(seen, found, None)

        return await see(params.text_document, answer)

    @server.feature(types.WORKSPACE_SYMBOL)
    async def workspace_symbols(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        from memidex.editor import symbols

        await app.session.discovered.wait()
        scene = app.scene()
        top = types.Range(types.Position(0, 0), types.Position(0, 0))

        def answer(cancelled: Cancelled) -> list[types.SymbolInformation]:
            cancelled.check()
            found: list[types.SymbolInformation] = []
            for item in symbols.workspace_symbols(scene.snapshot, params.query, MAX_WORKSPACE_SYMBOLS):
                cancelled.check()
                # The start of the file: for the place of the title each record would be read again.
                place = types.Location(scene.uri(item.path), top)
                found.append(
                    types.SymbolInformation(place, item.name, types.SymbolKind.Object, container_name=item.container)
                )
            return found

        return await server.run_cancellable(answer)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        from memidex.editor.folding import folds

        limit = app.capability("text_document", "folding_range", "range_limit")
        return await see(
            params.text_document,
            lambda seen: [types.FoldingRange(fold.first, fold.last) for fold in islice(folds(seen.view), limit)],
        )

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def selections(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        from memidex.editor import folding

        def answer(seen: Seen) -> list[types.SelectionRange]:
            found: list[types.SelectionRange] = []
            for place in params.positions[:1000]:
                grown: types.SelectionRange | None = None
                for span in reversed(folding.selections(seen.view, seen.at(place))):
                    grown = types.SelectionRange(seen.here(span), grown)
                found.append(grown or types.SelectionRange(types.Range(place, place)))
            return found

        return await see(params.text_document, answer)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        from memidex.editor import lenses as module
        from memidex.lsp.deciding import actor, policy

        def answer(seen: Seen) -> list[types.CodeLens]:
            found = module.lenses(seen.view, actor(), policy(app), datetime.now(UTC))
            return [types.CodeLens(seen.here(lens.span), pressed(lens)) for lens in found]

        return await see(params.text_document, answer)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=False))
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        from memidex.editor import hints as module

        return await see(
            params.text_document,
            lambda seen: [
                types.InlayHint(seen.here(Span(hint.offset, hint.offset)).start, hint.text, padding_left=True)
                for hint in module.hints(seen.view, seen.span(seen.path, params.range))
            ],
        )

    # What can be written ----------------------------------------------------------------------------------------------

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=['"', "-", ":", "/", "{", ","], resolve_provider=True),
    )
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        from memidex.editor import completion as module

        snippets = app.capability("text_document", "completion", "completion_item", "snippet_support")
        formats = app.capability("text_document", "completion", "completion_item", "documentation_format")

        def answer(seen: Seen) -> types.CompletionList:
            found = module.completions(seen.view, seen.at(params.position), "snippet" if snippets else "plain")
            return types.CompletionList(found.incomplete, [item(seen, one) for one in found.items])

        def item(seen: Seen, one: Completion) -> types.CompletionItem:
            return types.CompletionItem(
                one.label,
                kind=COMPLETION_KINDS[one.kind],
                detail=one.detail or None,
                documentation=markup(one.documentation, formats or ()) if one.documentation else None,
                sort_text=one.sort or None,
                filter_text=one.filter or None,
                insert_text_format=types.InsertTextFormat.Snippet if one.format == "snippet" else None,
                text_edit=types.TextEdit(seen.here(one.span), one.text),
                data={"record": list(one.record)} if one.record else None,
            )

        return await see(params.text_document, answer)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolve_completion(params: types.CompletionItem) -> types.CompletionItem:
        from memidex.editor.hover import record

        pair = named(app.scene(), params.data)
        if pair and params.documentation is None:
            formats = app.capability("text_document", "completion", "completion_item", "documentation_format")
            text = await server.run_cancellable(lambda _cancelled: record(*pair))
            params.documentation = markup(text, formats or ())
        return params

    # Families ---------------------------------------------------------------------------------------------------------

    @server.feature(types.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY)
    async def prepare_types(params: types.TypeHierarchyPrepareParams) -> list[types.TypeHierarchyItem] | None:
        from memidex.editor import hierarchy

        def answer(seen: Seen) -> list[types.TypeHierarchyItem] | None:
            found = hierarchy.item_at(seen.view, seen.at(params.position))
            return [generation(seen, found)] if found else None

        return await see(params.text_document, answer)

    async def generations(data: Any, find: Callable[[Root, Entry], list[Item]]) -> list[types.TypeHierarchyItem] | None:
        scene = app.scene()
        pair = named(scene, data)
        if pair is None:
            return None
        return await server.run_cancellable(lambda _cancelled: [generation(scene, one) for one in find(*pair)])

    @server.feature(types.TYPE_HIERARCHY_SUPERTYPES)
    async def supertypes(params: types.TypeHierarchySupertypesParams) -> list[types.TypeHierarchyItem] | None:
        from memidex.editor import hierarchy

        return await generations(params.item.data, hierarchy.older)

    @server.feature(types.TYPE_HIERARCHY_SUBTYPES)
    async def subtypes(params: types.TypeHierarchySubtypesParams) -> list[types.TypeHierarchyItem] | None:
        from memidex.editor import hierarchy

        return await generations(params.item.data, hierarchy.newer)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare_calls(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        from memidex.editor import hierarchy

        def answer(seen: Seen) -> list[types.CallHierarchyItem] | None:
            found = hierarchy.item_at(seen.view, seen.at(params.position))
            return [derivation(seen, found, "")] if found else None

        return await see(params.text_document, answer)

    async def derivations(data: Any, find: Callable[[Root, Entry], list[tuple[str, Item]]]) -> list[Any] | None:
        scene = app.scene()
        pair = named(scene, data)
        if pair is None:
            return None
        return await server.run_cancellable(
            lambda _cancelled: [derivation(scene, one, kind) for kind, one in find(*pair)]
        )

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        from memidex.editor import hierarchy

        found = await derivations(params.item.data, hierarchy.derived)
        return found and [types.CallHierarchyIncomingCall(one, [one.selection_range]) for one in found]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        from memidex.editor import hierarchy

        found = await derivations(params.item.data, hierarchy.sources)
        return found and [types.CallHierarchyOutgoingCall(one, [params.item.selection_range]) for one in found]


def tree(seen: Seen, symbol: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        symbol.name,
        SYMBOL_KINDS[symbol.kind],
        seen.here(symbol.span),
        seen.here(within(symbol.selection, symbol.span)),
        symbol.detail or None,
        children=[tree(seen, child) for child in symbol.children] or None,
    )


def within(inner: Span, outer: Span) -> Span:
    """The part of a stretch that is in another, as the protocol asks of a symbol's name."""
    start = min(max(inner.start, outer.start), outer.end)
    return Span(start, min(max(inner.end, start), outer.end))


def flat(seen: Seen, symbols: Iterable[Symbol], container: str | None) -> list[types.SymbolInformation]:
    """Symbols for a client that knows no trees."""
    found: list[types.SymbolInformation] = []
    for symbol in symbols:
        place = seen.location(seen.path, symbol.span)
        found.append(types.SymbolInformation(place, symbol.name, SYMBOL_KINDS[symbol.kind], container_name=container))
        found += flat(seen, symbol.children, symbol.name)
    return found


def generation(scene: Scene, item: Item) -> types.TypeHierarchyItem:
    span, data = scene.range(item.path, item.span), {"record": [item.root, item.record]}
    uri = scene.uri(item.path)
    return types.TypeHierarchyItem(item.name, types.SymbolKind.Class, uri, span, span, detail=item.detail, data=data)


def derivation(scene: Scene, item: Item, kind: str) -> types.CallHierarchyItem:
    span, data = scene.range(item.path, item.span), {"record": [item.root, item.record]}
    detail = f"{kind} · {item.detail}" if kind else item.detail
    return types.CallHierarchyItem(
        item.name, types.SymbolKind.Object, scene.uri(item.path), span, span, detail=detail, data=data
    )


def named(scene: Scene, data: Any) -> tuple[Root, Entry] | None:
    """The record that an item's data names, as we wrote it; None for anything else, and for a record that is gone."""
    match data:
        case {"record": [str(path), str(name)]}:
            root = next((root for root in scene.snapshot.roots if root.path == path), None)
            entry = root.find(name) if root else None
            return (root, entry) if root and entry else None
        case _:
            return None
