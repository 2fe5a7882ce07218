"""The floor of the benchmark: pygls as it comes, answering the same messages with as little as a server can.

Every edit is answered with one diagnostic, every hover with one line.
"""

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")
PLACE = types.Range(types.Position(0, 0), types.Position(0, 1))


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
    found = types.Diagnostic(PLACE, "a finding", types.DiagnosticSeverity.Error, source="bare")
    server.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(params.text_document.uri, [found], params.text_document.version)
    )


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "one line"), PLACE)


server.start_io()
