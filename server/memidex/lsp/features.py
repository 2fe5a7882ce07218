"""What the editor shows, feature by feature: positions to offsets, a call into `editor`, values to LSP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from memidex.lsp import convert

if TYPE_CHECKING:
    from memidex.lsp.server import App


def register(app: App) -> None:
    server = app.server

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        from memidex.editor.hover import hover as found_at

        view = await app.view(params.text_document.uri)
        if view is None:
            return None
        found = found_at(view, convert.offset(view.source, params.position, server.encoding))
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.markdown)
        return types.Hover(content, convert.range_(view.source, found.span, server.encoding))
