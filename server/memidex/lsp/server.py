"""The language server: what the client can and wants, what it is told of, and when the session begins and ends."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from msgspec import Raw

import memidex
from memidex import __version__
from memidex.lsp import actions, commands, convert, features, requests
from memidex.lsp.findings import EMPTY, encode
from memidex.lsp.wire import Server

if TYPE_CHECKING:
    from memidex.lsp.scene import Scene, Seen
    from memidex.lsp.session import Session
    from memidex.rules.rule import FileEdit, Selection
    from memidex.store.snapshot import Snapshot

logger = logging.getLogger(__name__)

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
PATIENCE = 3.0
"""Seconds that a client is given to answer what we ask."""
MANY = 1_000
"""Records from which on a client is told that any may have moved, rather than which."""
PAGE = re.compile(r"## MX[0-9]+ ([a-z-]+)")
"""The heading of a rule's page in the reference."""
DRAWS_NOT = re.compile("neovim|vim|helix|emacs|eglot|lsp-mode|kakoune|kak-lsp|micro", re.IGNORECASE)
"""Clients in a terminal or without inline pictures."""


class App:
    """The server and its session, and what the client said of itself."""

    def __init__(self) -> None:
        self.server = Server("memidex", __version__)
        self.settings: dict[str, Any] = {}
        self.complaint = ""
        """What was last said about the configuration, which is said once."""
        self.pulls = False
        """Whether the client asks for diagnostics, and can be asked to; else they are pushed."""
        self.draws = True
        """Whether pictures in a hover are seen as such."""
        self.follows = False
        """Whether the client knows our own requests, and is told what moves."""
        self.trusted_at_start = True
        """What the client said of the workspace's trust when it began."""
        self.configured = asyncio.Event()
        """Whether the settings that the client was asked for are there, or it gave none in time."""
        self.configured.set()
        self.fetching = 0
        """How often the client is being asked for its settings."""
        self.told: dict[str, tuple[str, int | None]] = {}
        """By path, the result id and version of what the client was told last, as far as that is not nothing."""
        self.refreshing: asyncio.TimerHandle | None = None
        self.stale: dict[str, None] = {}
        """What the client is to ask for again, as methods."""
        self.gone: dict[str, None] | None = {}
        """Records that moved and the client was not told of; None for any."""
        self.patience: asyncio.Task[None] | None = None
        """Waits for a client that never says that it is ready."""
        self.begun = False
        """Whether the client has said that it is ready."""
        self.server.on_document_open = lambda uri: self.session.open(uri)
        self.server.on_document_change = lambda uri: self.session.change(uri)
        self.server.on_document_close = lambda uri: self.session.close(uri)
        self.server.on_document_save = self.saved
        self.server.amend_capabilities = self.amend
        register(self)
        features.register(self)
        actions.register(self)
        requests.register(self)
        commands.register(self)

    @cached_property
    def session(self) -> Session:
        """The session; with it every room below is imported, which is not done before `initialize` is answered."""
        from memidex.lsp.session import Session

        return Session(self.server, self)

    # What the client can ----------------------------------------------------------------------------------------------

    def capability(self, *names: str) -> Any:
        """What the client says of a capability, named by the attributes that lead to it; None where it says nothing."""
        here: Any = self.server.protocol.client_capabilities
        for name in names:
            here = getattr(here, name, None)
        return here

    def amend(self, capabilities: types.ServerCapabilities) -> None:
        """What pygls does not build of itself, and what this client would do wrong with."""
        if self.capability("text_document", "diagnostic") and not self.pulls:
            # It would ask when a text is edited, and never see what changes outside.
            capabilities.diagnostic_provider = None

    async def ask(self, method: str, params: Any = None) -> Any:
        """The client's answer to a request; raises what it says, or `TimeoutError`."""
        return await asyncio.wait_for(asyncio.wrap_future(self.server.protocol.send_request(method, params)), PATIENCE)

    @property
    def trusted(self) -> bool:
        """Whether the person trusts the workspace; settings, which may come from the workspace itself, cannot say so."""
        return self.trusted_at_start and self.settings.get("trusted") is not False

    # What requests are answered from ----------------------------------------------------------------------------------

    def scene(self) -> Scene:
        """Everything as it is now."""
        from memidex.lsp.scene import Scene

        return Scene(self.pinned(self.session.current()), self.documents(), self.server.encoding)

    async def seen(self, uri: str) -> Seen | None:
        """Everything, with the text that a request is about; None for a text that is not open and of no root."""
        from memidex.lsp.scene import Seen

        path = self.session.path(uri)
        if path is None:
            return None
        snapshot = await self.session.ready(path)
        if snapshot.root_of(path) is None:
            # An address in such a text is of any root, and those of the workspace may still be opened.
            await self.session.discovered.wait()
            snapshot = await self.session.ready(path)
        snapshot = self.pinned(snapshot)
        document = self.session.document(path)
        root = snapshot.root_of(path)
        if document is None and root is None:
            return None
        source = document.source if document else self.session.text(path)
        return Seen(snapshot, self.documents(), self.server.encoding, path, source)

    def documents(self) -> dict[str, Any]:
        return {path: document for path in self.session.uris if (document := self.session.document(path))}

    def pinned(self, snapshot: Snapshot) -> Snapshot:
        """A snapshot whose buffers stay as they are now, while a worker looks at it."""
        from memidex.lsp.checking import Recent
        from memidex.store.snapshot import Snapshot

        roots = [
            replace(root, reader=Recent(self.session.buffers[root.path].pinned()))
            for root in snapshot.roots
            if root.path in self.session.buffers
        ]
        return Snapshot(tuple(roots))

    def edit(self, edits: Iterable[FileEdit]) -> types.WorkspaceEdit:
        """Edits as the client takes them, with the versions of open documents where it can compare them."""
        scene = self.scene()
        by_path: dict[str, list[types.TextEdit]] = {}
        for path, span, text in edits:
            by_path.setdefault(path, []).append(types.TextEdit(scene.range(path, span), text))
        if not self.capability("workspace", "workspace_edit", "document_changes"):
            return types.WorkspaceEdit(changes={scene.uri(path): items for path, items in by_path.items()})
        documents: list[Any] = []
        for path, items in by_path.items():
            document = scene.documents.get(path)
            name = types.OptionalVersionedTextDocumentIdentifier(
                scene.uri(path), document.version if document else None
            )
            documents.append(types.TextDocumentEdit(name, list(items)))
        return types.WorkspaceEdit(document_changes=documents)

    # What the client is told ------------------------------------------------------------------------------------------

    def publish(self, paths: Iterable[str]) -> None:
        """Tell the client of files whose findings changed, or whose text did: pushed, or to ask again."""
        for path in paths:
            if not self.pulls:
                self.push(path)
                continue
            now = self.session.reports.get(path, EMPTY).result_id
            if self.told.get(path, (EMPTY.result_id, None))[0] != now:
                self.tell(path, now, None)
                self.refresh(types.WORKSPACE_DIAGNOSTIC_REFRESH, "diagnostics")

    def tell(self, path: str, result: str, version: int | None) -> None:
        if result == EMPTY.result_id and version is None:
            self.told.pop(path, None)
        else:
            self.told[path] = result, version

    def push(self, path: str) -> None:
        document = self.session.document(path)
        found = self.session.reports.get(path, EMPTY)
        if document is None and all(finding.severity == "hint" for finding in self.session.findings(path)):
            found = EMPTY  # hints are for whoever has the file before them
        if document and self.session.snapshot.root_of(path) is None and path not in self.told:
            return
        version = document.version if document else None
        before = self.told.get(path, (EMPTY.result_id, None))
        same = before[0] == found.result_id
        if same and (before[1] == version or (found is EMPTY and (path in self.told or document is None))):
            if document is None:
                self.tell(path, found.result_id, version)
            return
        self.tell(path, found.result_id, version)
        number = b"" if version is None else b',"version":%d' % version
        self.server.protocol.notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            Raw(b'{"uri":%b%b,"diagnostics":%b}' % (encode(self.session.uri(path)), number, found.items)),
        )

    def moved(self, records: Iterable[str]) -> None:
        """Records are not as they were, or with none named any may be: what shows them is asked for again."""
        records = list(records)
        if not records or self.gone is None or len(self.gone) + len(records) > MANY:
            self.gone = None
        else:
            self.gone.update(dict.fromkeys(records))
        self.refresh(types.WORKSPACE_CODE_LENS_REFRESH, "code_lens")
        self.refresh(types.WORKSPACE_INLAY_HINT_REFRESH, "inlay_hint")
        self.soon()

    def refresh(self, method: str, capability: str) -> None:
        """Have the client ask again soon, if it can."""
        if self.capability("workspace", capability, "refresh_support"):
            self.stale[method] = None
            self.soon()

    def soon(self) -> None:
        if self.refreshing is None and self.server.protocol.state == "running":
            self.refreshing = asyncio.get_running_loop().call_later(REFRESH, self.send_refresh)

    def send_refresh(self) -> None:
        self.refreshing = None
        if self.server.protocol.state != "running":
            return
        methods, self.stale = self.stale, {}
        for method in methods:
            self.server.protocol.send_request(method)
        gone, self.gone = self.gone, {}
        if self.follows and (gone is None or gone):
            self.server.protocol.notify("memidex/changed", {"records": None if gone is None else list(gone)})

    # Configuration ----------------------------------------------------------------------------------------------------

    def select(self, root: str) -> Selection:
        """The rules for a root: the project's configuration, with the editor's settings over it."""
        from memidex import config
        from memidex.rules.rule import Selection

        rules = self.settings.get("rules")
        try:
            found = config.read(root, cast(dict[str, str], rules) if isinstance(rules, dict) else {})
        except (config.Malformed, LookupError) as error:
            self.complain(str(error.args[0]))
            return Selection()
        for warning in found.warnings:
            self.complain(warning)
        return found.selection

    def excluded(self, folder: str, root: str) -> bool:
        """Whether the configuration of a workspace folder leaves out a root below it; asked on a worker."""
        from memidex import config

        try:
            return config.read(folder).excludes(root)
        except (config.Malformed, LookupError):
            return False  # `select` says so

    def page(self, rule: str) -> str:
        """The address of a rule's page in the reference that comes with the package; empty where that is not there."""
        return self.pages.get(rule, "")

    @cached_property
    def pages(self) -> dict[str, str]:
        """By name, the address of each rule's page: the line of its heading, as editors open it."""
        reference = Path(memidex.__file__).parent / "rules" / "RULES.md"
        try:
            lines = reference.read_text("utf-8").splitlines()
        except OSError:
            return {}
        address = convert.path_to_uri(reference.as_posix())
        heads = ((number, PAGE.fullmatch(line)) for number, line in enumerate(lines, 1))
        return {head.group(1): f"{address}#L{number}" for number, head in heads if head}

    def complain(self, text: str) -> None:
        logger.warning("configuration: %s", text)
        if text != self.complaint:
            self.complaint = text
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"memidex: {text}"))

    async def fetch_settings(self) -> None:
        """Ask the client for its settings, and take what is of the right form."""
        items = types.ConfigurationParams([types.ConfigurationItem(section="memidex")])
        self.fetching += 1
        self.configured.clear()
        try:
            found = await self.ask(types.WORKSPACE_CONFIGURATION, items)
            self.take_settings(cast(Sequence[Any], found)[0] if isinstance(found, (list, tuple)) and found else None)
        except Exception as error:
            logger.warning("no settings from the client: %s", error or type(error).__name__)
        finally:
            self.fetching -= 1
            if not self.fetching:
                self.configured.set()

    def take_settings(self, found: Any) -> None:
        if isinstance(found, dict):
            # Nested, the section alone, or with the settings' full names as keys; and what stands beside a nested one,
            # where clients say whether the workspace is trusted. It is where every place that says anything says so;
            # null is what some clients send for what is not set.
            before = self.trusted
            values = cast(dict[str, Any], found)
            inner = values.get("memidex")
            nested = cast(dict[str, Any], inner) if isinstance(inner, dict) else {}
            beside = {name.removeprefix("memidex."): value for name, value in values.items() if name != "memidex"}
            said = [place["trusted"] for place in (beside, nested) if place.get("trusted") is not None]
            self.settings = {**beside, **nested, "trusted": all(value is True for value in said)}
            if self.trusted != before:
                self.refresh(types.WORKSPACE_CODE_LENS_REFRESH, "code_lens")

    def saved(self, uri: str) -> None:
        """A document was saved: what the client does not watch may depend on it."""
        path = self.session.path(uri)
        if path and path.endswith("/pyproject.toml"):
            self.session.configure()

    # Progress ---------------------------------------------------------------------------------------------------------

    async def begin(self, title: str) -> Callable[[int, int], None]:
        """A way to tell the client how far long work is; (done, all), the last call with both equal ends it."""
        if not self.capability("window", "work_done_progress"):
            return silent
        token = str(uuid.uuid4())
        try:
            await self.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token))
        except Exception:
            return silent
        self.server.partial(token, {"kind": "begin", "title": title, "percentage": 0})
        clock = asyncio.get_running_loop().time
        last = clock()

        def told(done: int, every: int) -> None:
            nonlocal last
            if done >= every:
                self.server.partial(token, {"kind": "end"})
            elif clock() - last > 0.1:
                last = clock()
                percentage = 100 * done // every
                self.server.partial(
                    token, {"kind": "report", "message": f"{done:,} of {every:,}", "percentage": percentage}
                )

        return told


def silent(done: int, every: int) -> None:
    """Nobody is told."""


def register(app: App) -> None:
    """What begins and ends a session, what changes it, and diagnostics."""
    server = app.server

    @server.feature(types.INITIALIZE)
    async def initialize(params: types.InitializeParams) -> None:
        asks = app.capability("text_document", "diagnostic")
        app.pulls = bool(asks and app.capability("workspace", "diagnostics", "refresh_support"))
        app.draws = not (params.client_info and DRAWS_NOT.search(params.client_info.name))
        experimental = app.capability("experimental")
        app.follows = isinstance(experimental, dict) and bool(cast(dict[str, Any], experimental).get("memidex"))
        app.take_settings(params.initialization_options)
        app.trusted_at_start = app.trusted
        if app.capability("workspace", "configuration"):
            app.configured.clear()  # it is asked once it says that it is ready
        app.patience = asyncio.get_running_loop().create_task(begin_anyway())

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        if not app.begun:
            app.begun = True
            app.session.start(begin())

    async def begin_anyway() -> None:
        """A client that never says that it is ready is served without being asked anything."""
        await asyncio.sleep(PATIENCE)
        if not app.begun:
            app.configured.set()
            await app.session.discover(app.session.folders())

    async def begin() -> None:
        asked = [app.session.start(register_with_client())]
        if app.capability("workspace", "configuration"):
            asked.append(app.session.start(app.fetch_settings()))
            await asyncio.wait(asked[1:])
        await app.session.discover(app.session.folders())

    async def register_with_client() -> None:
        registrations: list[types.Registration] = []
        watches = bool(app.capability("workspace", "did_change_watched_files", "dynamic_registration"))
        if watches:
            watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in WATCHED])
            registrations.append(types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watchers))
        if app.capability("workspace", "did_change_configuration", "dynamic_registration"):
            registrations.append(
                types.Registration("configuration", types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "memidex"})
            )
        if registrations:
            try:
                await app.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams(registrations))
            except Exception as error:
                logger.warning("the client does not watch files: %s", error or type(error).__name__)
                watches = False
        app.session.start(app.session.watch(closely=not watches))

    @server.feature(types.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        if app.patience:
            app.patience.cancel()
        if "session" in app.__dict__:
            app.session.stop()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            if path := app.session.path(folder.uri):
                app.session.leave(path, app.session.folders())
        app.session.start(
            app.session.discover([path for one in params.event.added if (path := app.session.path(one.uri))])
        )

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(params: types.DidChangeConfigurationParams) -> None:
        if app.capability("workspace", "configuration"):
            await app.fetch_settings()
        else:
            app.take_settings(params.settings)
        app.session.configure()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := app.session.path(change.uri))]
        if any(path.endswith("/pyproject.toml") for path in paths):
            app.session.configure()
        app.session.changed_outside(
            path for path in paths if "/.memidex/" not in path and not path.endswith("/pyproject.toml")
        )

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(identifier="memidex", inter_file_dependencies=True, workspace_diagnostics=True),
    )
    async def diagnostic(params: types.DocumentDiagnosticParams) -> Raw:
        path = app.session.path(params.text_document.uri)
        found = await app.session.report(path) if path else EMPTY
        if params.previous_result_id == found.result_id:
            return Raw(b'{"kind":"unchanged","resultId":%b}' % encode(found.result_id))
        if path and app.pulls:
            app.tell(path, found.result_id, None)
        return Raw(b'{"kind":"full","resultId":%b,"items":%b}' % (encode(found.result_id), found.items))

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> Raw:
        await app.session.whole()
        known: dict[str, types.PreviousResultId] = {}
        for previous in params.previous_result_ids:
            if path := app.session.path(previous.uri):
                known[path] = previous
        items: list[bytes] = []
        for path in sorted({*app.session.reports, *known}):
            found = app.session.reports.get(path, EMPTY)
            document = app.session.document(path)
            before = known.get(path)
            uri = before.uri if before else app.session.uri(path)
            version = b"null" if document is None or document.version is None else b"%d" % document.version
            head = b'{"uri":%b,"version":%b,"resultId":%b,' % (encode(uri), version, encode(found.result_id))
            if before and before.value == found.result_id:
                items.append(head + b'"kind":"unchanged"}')
            else:
                items.append(head + b'"kind":"full","items":%b}' % found.items)
            if app.pulls:
                app.tell(path, found.result_id, None)
        whole = Raw(b'{"items":[%b]}' % b",".join(items))
        if params.partial_result_token is None:
            return whole
        server.partial(params.partial_result_token, whole)
        return Raw(b'{"items":[]}')


def configure_logging() -> None:
    level = os.environ.get("MEMIDEX_LOG", "INFO").upper()
    known = level in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    logging.basicConfig(
        stream=sys.stderr, level=level if known else "INFO", format="%(levelname)s %(name)s: %(message)s"
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


__all__ = ["App", "serve_stdio", "serve_tcp"]
