"""A session as VS Code and Neovim have it, through pytest-lsp: what a person sees from opening a record to mending it.

pytest-lsp 1.0.1 fails on partial results, keeps no versions and has no time limits: its progress handler is taken out,
versions are asked of the raw client (`test_session.py`), and pytest-timeout sees to the limits.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import converters, types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import COMMAND, applied
from roots import FINDING

from sketch import Sketch, sketch


@pytest.fixture
def made(tmp_path: Path) -> Sketch:
    relation = '{"relations":[{"type":"supersedes","target":"@b"}]}'
    return sketch(f'-- record.md --\nstatus: "active"\n-- relations.json --\n{relation}\n-- b/record.md --\n', tmp_path)


@pytest_lsp.fixture(
    params=["visual-studio-code", "neovim"], config=ClientServerConfig(server_command=[*COMMAND]), scope="function"
)
async def client(lsp_client: LanguageClient, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[None]:
    lsp_client.protocol.fm._features.pop(types.PROGRESS, None)

    def refreshed(_params: None) -> None:
        return None

    for method in (types.WORKSPACE_CODE_LENS_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH):
        lsp_client.feature(method)(refreshed)

    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(_params: types.RegistrationParams) -> None:
        return None

    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            workspace_folders=[types.WorkspaceFolder(tmp_path.as_uri(), "work")],
        )
    )
    yield
    await lsp_client.shutdown_session()


def identifier(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


def opened(client: LanguageClient, path: Path) -> str:
    text = path.read_text()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(path.as_uri(), "markdown", 1, text))
    )
    return text


async def rules(client: LanguageClient, path: Path, wanted: set[str]) -> None:
    """Wait until a file's diagnostics are of these rules."""
    while {found.data["rule"] for found in client.diagnostics.get(path.as_uri(), ())} != wanted:
        await asyncio.sleep(0.02)


async def test_a_finding_is_seen_mended_and_gone(client: LanguageClient, made: Sketch) -> None:
    record = made.path("record.md")
    text = opened(client, record)
    await rules(client, record, {FINDING})
    found = client.diagnostics[record.as_uri()]
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(identifier(record), found[0].range, types.CodeActionContext(list(found)))
    )
    assert actions
    chosen = actions[0]
    assert isinstance(chosen, types.CodeAction)
    chosen = chosen if chosen.edit else await client.code_action_resolve_async(chosen)
    assert chosen.edit
    made_of = [change for change in chosen.edit.document_changes or () if isinstance(change, types.TextDocumentEdit)]
    changes = [change.edits for change in made_of] or list((chosen.edit.changes or {}).values())
    plain = converters.get_converter().unstructure([edit for edits in changes for edit in edits])
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, record.as_uri()),
            [types.TextDocumentContentChangeWholeDocument(applied(text, plain))],
        )
    )
    await rules(client, record, {"edited-since-sealed"})


async def test_a_record_is_read_followed_and_found(client: LanguageClient, made: Sketch) -> None:
    relations, other = made.path("relations.json"), made.path("record.md", "b")
    text = opened(client, relations)
    place = types.Position(0, text.index(made.ids["b"]) + 4)
    hover = await client.text_document_hover_async(types.HoverParams(identifier(relations), place))
    assert hover
    assert isinstance(hover.contents, types.MarkupContent)
    assert "0.75" in hover.contents.value
    targets = await client.text_document_definition_async(types.DefinitionParams(identifier(relations), place))
    assert isinstance(targets, list | tuple)
    assert [target.target_uri for target in targets if isinstance(target, types.LocationLink)] == [other.as_uri()]
    places = await client.text_document_references_async(
        types.ReferenceParams(types.ReferenceContext(False), identifier(relations), place)
    )
    assert relations.as_uri() in [found.uri for found in places or ()]
    symbols = await client.workspace_symbol_async(types.WorkspaceSymbolParams(made.ids["b"]))
    assert symbols
    assert symbols[0].location.uri == other.as_uri()
    family = await client.text_document_prepare_type_hierarchy_async(
        types.TypeHierarchyPrepareParams(identifier(relations), types.Position(0, 0))
    )
    assert family
    older = await client.type_hierarchy_supertypes_async(types.TypeHierarchySupertypesParams(family[0]))
    assert [item.uri for item in older or ()] == [other.as_uri()]


async def test_what_can_be_written_is_completed_and_explained(client: LanguageClient, made: Sketch) -> None:
    record = made.path("record.md")
    text = opened(client, record)
    line = next(number for number, found in enumerate(text.split("\n")) if found.startswith("kind:"))
    found = await client.text_document_completion_async(
        types.CompletionParams(identifier(record), types.Position(line, 7))
    )
    assert isinstance(found, types.CompletionList)
    assert "caution" in [item.label for item in found.items]
    assert await client.completion_item_resolve_async(found.items[0])
    for method in ("code_lens", "document_symbol", "folding_range", "document_link"):
        params = {
            "code_lens": types.CodeLensParams,
            "document_symbol": types.DocumentSymbolParams,
            "folding_range": types.FoldingRangeParams,
            "document_link": types.DocumentLinkParams,
        }[method]
        assert (await getattr(client, f"text_document_{method}_async")(params(identifier(record)))) is not None
