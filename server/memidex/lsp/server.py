"""The language server: each feature takes a request apart, asks `editor` or the session, and puts the answer together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterable
from typing import Any, cast

from lsprotocol import types
from msgspec import Raw

from memidex import __version__
from memidex.editor.view import View
from memidex.lsp import convert
from memidex.lsp.findings import EMPTY, encode
from memidex.lsp.session import Session
from memidex.lsp.wire import ContentModified, InvalidParams, Server
from memidex.rules.rule import FileEdit, Finding, Selection
from memidex.store.snapshot import place_of
from memidex.text import Source

logger = logging.getLogger(__name__)

FIX_ALL = "source.fixAll.memidex"
WATCHED = (
    "**/memory/*/bundles/**",
    "**/memory/*/runs.jsonl",
    "**/policies.md",
    "**/memory",
    "**/memory/*",
    "**/memory/*/bundles",
    "**/pyproject.toml",
)
REFRESH = 0.2
"""Seconds between two requests to the client to ask again."""


class App:
    """The server and its session, and what the client said of itself."""

    def __init__(self) -> None:
        self.server = Server("memidex", __version__)
        self.session = Session(self.server)
        self.settings: dict[str, Any] = {}
        self.pulls = False
        self.told: set[str] = set()
        """Files whose pushed diagnostics are not empty."""
        self.refreshing: asyncio.TimerHandle | None = None
        self.session.publish = self.publish
        self.session.select = self.select
        self.session.progress = self.progress
        self.server.on_document_open = self.session.open
        self.server.on_document_change = self.session.open
        self.server.on_document_close = self.closed
        self.server.amend_capabilities = amend
        register(self)

    # What the client can ----------------------------------------------------------------------------------------------

    @property
    def client(self) -> types.ClientCapabilities:
        return self.server.protocol.client_capabilities

    def can(self, *names: str) -> bool:
        """Whether the client has a capability, named by the attributes that lead to it."""
        here: Any = self.client
        for name in names:
            here = getattr(here, name, None)
        return bool(here)

    # Diagnostics ------------------------------------------------------------------------------------------------------

    def publish(self, paths: Iterable[str]) -> None:
        """Tell the client of files whose findings changed: pushed, or for a client that pulls, to ask again."""
        if self.pulls:
            if self.can("workspace", "diagnostics", "refresh_support") and self.refreshing is None:
                self.refreshing = asyncio.get_running_loop().call_later(REFRESH, self.refresh)
            return
        for path in paths:
            self.push(path)

    def refresh(self) -> None:
        self.refreshing = None
        self.server.protocol.send_request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def push(self, path: str) -> None:
        uri = convert.path_to_uri(path)
        document = self.server.documents.find(uri)
        found = self.session.reports.get(path, EMPTY)
        if document is None and not any(finding.severity != "hint" for finding in self.session.findings(path)):
            found = EMPTY  # hints are for whoever has the file before them
        if found is EMPTY and path not in self.told and document is None:
            return
        (self.told.discard if found is EMPTY else self.told.add)(path)
        version = b"" if document is None or document.version is None else b',"version":%d' % document.version
        name = document.uri if document else uri
        self.server.protocol.notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            Raw(b'{"uri":%b%b,"diagnostics":%b}' % (encode(name), version, found.items)),
        )

    def closed(self, uri: str) -> None:
        self.session.close(uri)
        path = self.session.path(uri)
        if path and not self.pulls:
            self.push(path)

    # Configuration ----------------------------------------------------------------------------------------------------

    def select(self, root: str) -> Selection:
        """The rules for a root: the project's configuration, with the editor's settings over it."""
        rules = self.settings.get("rules")
        try:
            from memidex import config

            return config.selection(root, cast(dict[str, str], rules) if isinstance(rules, dict) else {})
        except Exception as error:
            logger.warning("configuration: %s", error)
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"memidex: {error}"))
            return Selection()

    async def fetch_settings(self) -> None:
        if not self.can("workspace", "configuration"):
            return
        items = types.ConfigurationParams([types.ConfigurationItem(section="memidex")])
        with contextlib.suppress(Exception):
            found = await asyncio.wrap_future(self.server.protocol.send_request(types.WORKSPACE_CONFIGURATION, items))
            self.take_settings(found[0] if isinstance(found, list) and found else None)  # pyright: ignore[reportUnknownArgumentType]

    def take_settings(self, found: Any) -> None:
        if isinstance(found, dict):
            inner = cast(dict[str, Any], found).get("memidex", found)
            self.settings = cast(dict[str, Any], inner) if isinstance(inner, dict) else {}

    # Progress ---------------------------------------------------------------------------------------------------------

    async def progress(self, title: str) -> Callable[[int, int], None]:
        """A way to tell the client how far long work is; (done, all), the last call with both equal ends it."""
        if not self.can("window", "work_done_progress"):
            return lambda _done, _all: None
        token = str(uuid.uuid4())
        protocol = self.server.protocol
        try:
            request = protocol.send_request(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token)
            )
            await asyncio.wait_for(asyncio.wrap_future(request), 2)
        except Exception:
            return lambda _done, _all: None
        self.server.partial(token, {"kind": "begin", "title": title, "percentage": 0})
        loop = asyncio.get_running_loop()
        last = loop.time()

        def told(done: int, every: int) -> None:
            nonlocal last
            if done >= every:
                self.server.partial(token, {"kind": "end", "message": f"{every} records"})
            elif loop.time() - last > 0.1:
                last = loop.time()
                self.server.partial(
                    token, {"kind": "report", "message": f"{done} of {every}", "percentage": 100 * done // every}
                )

        return told

    # Requests ---------------------------------------------------------------------------------------------------------

    async def view(self, uri: str) -> View | None:
        """The text that a request is about; None for one that is nobody's: not open and not a file of a root."""
        path = self.session.path(uri)
        if path is None:
            return None
        snapshot = await self.session.ready(path)
        document = self.server.documents.find(uri)
        if document:
            return View(snapshot, path, document.source)
        return View(snapshot, path, self.session.source(path)) if snapshot.root_of(path) else None

    def text(self, path: str) -> Source:
        """The text of any file that an answer names."""
        document = self.server.documents.find(convert.path_to_uri(path))
        return document.source if document else self.session.source(path)

    def edit(self, edits: Iterable[FileEdit]) -> types.WorkspaceEdit:
        """Edits as the client takes them, with the versions of open documents where it can compare them."""
        by_path: dict[str, list[types.TextEdit]] = {}
        for path, span, text in edits:
            by_path.setdefault(path, []).append(
                types.TextEdit(convert.range_(self.text(path), span, self.server.encoding), text)
            )
        if not self.can("workspace", "workspace_edit", "document_changes"):
            return types.WorkspaceEdit(changes={self.uri(path): items for path, items in by_path.items()})
        documents: list[Any] = []
        for path, items in by_path.items():
            document = self.server.documents.find(convert.path_to_uri(path))
            version = document.version if document else None
            documents.append(
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(self.uri(path), version), list(items)
                )
            )
        return types.WorkspaceEdit(document_changes=documents)

    def uri(self, path: str) -> str:
        """The URI of a file, spelt as the client spells it where it has it open."""
        document = self.server.documents.find(convert.path_to_uri(path))
        return document.uri if document else convert.path_to_uri(path)


def amend(capabilities: types.ServerCapabilities) -> None:
    """What pygls does not build of itself."""
    if capabilities.code_action_provider:
        capabilities.code_action_provider = types.CodeActionOptions(
            [types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True
        )


def register(app: App) -> None:
    server, session = app.server, app.session

    @server.feature(types.INITIALIZE)
    async def initialize(params: types.InitializeParams) -> None:
        app.pulls = app.can("text_document", "diagnostic")
        app.take_settings(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        await app.fetch_settings()
        watches = app.can("workspace", "did_change_watched_files", "dynamic_registration")
        registrations: list[types.Registration] = []
        if watches:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            registrations.append(
                types.Registration(
                    "watch",
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    types.DidChangeWatchedFilesRegistrationOptions(watchers),
                )
            )
        if app.can("workspace", "did_change_configuration", "dynamic_registration"):
            registrations.append(
                types.Registration("configuration", types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "memidex"})
            )
        if registrations:
            try:
                await asyncio.wrap_future(
                    server.protocol.send_request(
                        types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams(registrations)
                    )
                )
            except Exception as error:
                logger.warning("the client does not watch files: %s", error)
                watches = False
        if not watches:
            session.start(session.poll())
        folders = [path for folder in server.folders if (path := session.path(folder.uri))]
        await session.discover(folders)

    @server.feature(types.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        for task in session.tasks:
            task.cancel()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            gone = session.path(folder.uri)
            kept = [path for item in server.folders if (path := session.path(item.uri))]
            for root in session.snapshot.roots:
                if (
                    gone
                    and (root.path + "/").startswith(gone + "/")
                    and not any((root.path + "/").startswith(path + "/") for path in kept)
                ):
                    paths = [path for path in session.reports if path.startswith(root.path + "/")]
                    session.forget(root.path)
                    app.publish(paths)
        await session.discover([path for folder in params.event.added if (path := session.path(folder.uri))])

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(params: types.DidChangeConfigurationParams) -> None:
        if app.can("workspace", "configuration"):
            await app.fetch_settings()
        else:
            app.take_settings(params.settings)
        session.configure()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := session.path(change.uri))]
        if any(path.endswith("/pyproject.toml") for path in paths):
            session.configure()
        session.changed_outside([path for path in paths if "/.memidex/" not in path])

    # Diagnostics

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(identifier="memidex", inter_file_dependencies=True, workspace_diagnostics=True),
    )
    async def diagnostic(params: types.DocumentDiagnosticParams) -> Raw:
        path = session.path(params.text_document.uri)
        found = await session.report(path) if path else EMPTY
        if params.previous_result_id == found.result_id:
            return Raw(b'{"kind":"unchanged","resultId":%b}' % encode(found.result_id))
        return Raw(b'{"kind":"full","resultId":%b,"items":%b}' % (encode(found.result_id), found.items))

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> Raw:
        await session.whole()
        known: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for previous in params.previous_result_ids:
            path = session.path(previous.uri)
            if path:
                known[path] = previous.value
                spelled[path] = previous.uri
        items: list[bytes] = []
        for path in sorted({*session.reports, *known}):
            found = session.reports.get(path, EMPTY)
            document = server.documents.find(convert.path_to_uri(path))
            name = spelled.get(path) or app.uri(path)
            version = b"null" if document is None or document.version is None else b"%d" % document.version
            head = b'{"uri":%b,"version":%b,"resultId":%b,' % (encode(name), version, encode(found.result_id))
            if known.get(path) == found.result_id:
                items.append(head + b'"kind":"unchanged"}')
            else:
                items.append(head + b'"kind":"full","items":' + found.items + b"}")
        if params.partial_result_token is not None:
            server.partial(params.partial_result_token, Raw(b'{"items":[' + b",".join(items) + b"]}"))
            return Raw(b'{"items":[]}')
        return Raw(b'{"items":[' + b",".join(items) + b"]}")

    # Code actions

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        view = await app.view(params.text_document.uri)
        if view is None:
            return []
        await session.report(view.path)
        start = convert.offset(view.source, params.range.start, server.encoding)
        end = convert.offset(view.source, params.range.end, server.encoding)
        found = [item for item in session.findings(view.path) if item.span.start <= end and start <= item.span.end]
        wanted = params.context.only
        actions: list[types.CodeAction] = []
        if wants(wanted, types.CodeActionKind.QuickFix):
            for finding in found:
                actions += [
                    action(app, view.path, finding, index, params.context.diagnostics)
                    for index in range(len(finding.fixes))
                ]
        # Fix-all is offered when it is asked for, as an editor does when it saves, and not in every menu.
        if wanted and wants(wanted, FIX_ALL) and safe_edits(session.findings(view.path)):
            actions.append(
                types.CodeAction(
                    "Fix all safe memidex findings in this file",
                    FIX_ALL,
                    edit=app.edit(safe_edits(session.findings(view.path))),
                )
            )
        return actions

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve_action(params: types.CodeAction) -> types.CodeAction:
        data = params.data
        if params.edit is not None or not isinstance(data, dict):
            return params
        wanted = cast(dict[str, Any], data)
        path = str(wanted.get("path"))
        await session.report(path)
        for finding in session.findings(path):
            for fix in finding.fixes:
                if key(finding) == wanted.get("finding") and fix.title == params.title:
                    params.edit = app.edit(fix.edits)
                    return params
        raise ContentModified("the text has changed; ask for the actions again")

    # What is read ----------------------------------------------------------------------------------------------------

    from memidex.lsp import features

    features.register(app)


def wants(only: Iterable[str] | None, kind: str) -> bool:
    """Whether a client that asks for `only` these kinds wants this one; a kind holds what is below it."""
    return only is None or any(
        kind == str(item) or kind.startswith(str(getattr(item, "value", item)) + ".") for item in map(value_of, only)
    )


def value_of(kind: Any) -> str:
    return str(getattr(kind, "value", kind))


def key(finding: Finding) -> list[Any]:
    """What tells a finding from the others of its file."""
    return [finding.rule.code, finding.span.start, finding.span.end, finding.message]


def action(app: App, path: str, finding: Finding, index: int, shown: Iterable[types.Diagnostic]) -> types.CodeAction:
    fix = finding.fixes[index]
    span = convert.range_(app.text(path), finding.span, app.server.encoding)
    causes = [item for item in shown if item.range == span and item.code == finding.rule.code]
    made = types.CodeAction(
        fix.title, types.CodeActionKind.QuickFix, diagnostics=causes or None, is_preferred=fix.preferred and index == 0
    )
    lazily = (
        app.client.text_document
        and app.client.text_document.code_action
        and app.client.text_document.code_action.resolve_support
    )
    if lazily and "edit" in lazily.properties:
        made.data = {"path": path, "finding": key(finding)}
    else:
        made.edit = app.edit(fix.edits)
    return made


def safe_edits(findings: Iterable[Finding]) -> list[FileEdit]:
    """The edits of all safe fixes that can be made together: of two that touch one place the first."""
    taken: list[FileEdit] = []
    for finding in findings:
        for fix in finding.fixes:
            if fix.safe:
                if not any(
                    one.path == two.path
                    and one.span.start < two.span.end
                    and two.span.start < one.span.end
                    or one == two
                    for one in fix.edits
                    for two in taken
                ):
                    taken += fix.edits
                break
    return taken


def configure_logging() -> None:
    level = os.environ.get("MEMIDEX_LOG", "INFO").upper()
    logging.basicConfig(
        stream=sys.stderr,
        level=level if re.fullmatch("[A-Z]+", level) else "INFO",
        format="%(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("pygls").setLevel(logging.WARNING)


def serve_stdio() -> int:
    """Serve the client on stdin and stdout; the exit code."""
    configure_logging()
    sys.setswitchinterval(0.001)  # workers let the loop's thread in soon
    return App().server.start_io()


def serve_tcp(host: str, port: int) -> int:
    """Serve the one client that connects to a socket; the exit code."""
    configure_logging()
    sys.setswitchinterval(0.001)
    return App().server.start_tcp(host, port)


__all__ = ["App", "InvalidParams", "place_of", "serve_stdio", "serve_tcp"]
