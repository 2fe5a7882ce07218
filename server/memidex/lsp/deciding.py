"""A decision in the editor, made anew on the disk when its command is run, and what the session learns of it.

What the person has open does not leak into it: it is refused where a file of a bundle that it writes to has unsaved edits.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from memidex import desk
from memidex.editor import card as cards
from memidex.editor.markdown import plain
from memidex.history.change import Actor, Change, Operation, Policy, Refused
from memidex.learning import impact as impacts
from memidex.learning.decide import undo
from memidex.learning.retention import collection
from memidex.lsp.checking import Buffers
from memidex.lsp.reading import overlaid, product_of_ledger
from memidex.lsp.requests import addressed, roots_named, text
from memidex.lsp.wire import InvalidParams, RequestFailed
from memidex.records.memidex.read import File
from memidex.records.memidex.vocabulary import FILES
from memidex.store import opening, writing
from memidex.store.commit import Commit
from memidex.store.snapshot import Entry, Root
from memidex.text import Source
from memidex.text.source import BOM

if TYPE_CHECKING:
    from memidex.lsp.server import App

POLICIES = "policies.md"
WRITTEN = ("evidence/outcomes.jsonl", "relations.json", "manifest.json")
"""What a decision writes of a bundle that is there."""
MOST_NEAR = 64
"""Related records that are read again before a decision; of more, what is known of them is believed."""
LONGEST = 1_000
"""Characters of a message."""
PROPOSED = "proposed-supersession-of"
ASKED = ("accept", "reject", "forget", "supersede")
"""Decisions that may retire a record on which others rest."""
Answer = dict[str, Any]


def actor() -> Actor:
    """Who decides in this process: the person at the editor."""
    return Actor("user", desk.who(os.environ))


def policy(app: App) -> Policy:
    """What the editor's workspace allows."""
    return Policy(trusted=app.trusted)


class Text(NamedTuple):
    """A file that the client has open: the text that it shows, and the one that counts, which a decision may have left."""

    shown: Source
    counts: Source


class Front:
    """What the commands have in common: which root they name, and how they are refused."""

    def __init__(self, app: App, locks: dict[str, asyncio.Lock], wanted: dict[str, Any]) -> None:
        self.app = app
        self.locks = locks
        self.wanted = wanted

    def lock(self, path: str) -> asyncio.Lock:
        """What those who write to one root wait for."""
        return self.locks.setdefault(path, asyncio.Lock())

    async def roots(self) -> list[Root]:
        """The open roots, or the one that is named."""
        await self.app.configured.wait()
        await self.app.session.discovered.wait()
        return roots_named(self.app, self.app.scene(), self.wanted)

    def open_texts(self, path: str) -> dict[str, Text]:
        """What the client has open in a root."""
        session = self.app.session
        found: dict[str, Text] = {}
        for here in session.uris:
            document = session.document(here) if here.startswith(path + "/") else None
            if document:
                found[here] = Text(document.source, session.counted(here, document.source))
        return found

    async def take(self, path: str, folders: Iterable[str], commit: Commit, texts: Mapping[str, Text]) -> None:
        """Bring what was written, or was found to be other than it was known, into the session."""
        folders = {*folders, *desk.folders(path, commit)}
        rules = f"{path}/{POLICIES}" if commit.rules else None
        ours = {f"{folder}/{name}" for folder in desk.folders(path, commit) for name in WRITTEN} | {rules}
        mine = {here: one.shown.string for here, one in texts.items() if here in ours}
        await self.app.session.take_written(path, folders, mine)
        if rules:
            self.app.session.file_changed(path, rules)

    def refused(self, answer: Refused, card: Answer | None = None) -> Answer:
        """What is answered; a client that knows nothing of our answers shows the message."""
        if not self.app.follows:
            self.warn(answer.message)
        told: Answer = {"refused": answer.reason, "message": answer.message}
        return {**told, "card": card} if card else told

    def warn(self, message: str) -> None:
        told = f"memidex: {plain(message, LONGEST)}"
        self.app.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, told))

    async def found(self) -> tuple[Root, Entry] | Refused:
        """The record that the command names."""
        await self.app.configured.wait()  # which may say that nothing is to be written
        uri, name = text(self.wanted, "uri"), text(self.wanted, "id")
        where = text(self.wanted, "root")
        if name is not None and (where is not None or uri is None):
            roots = await self.roots()
            if where is not None and not roots:
                return Refused("unknown-record", f"{where} is no root that is open here")
            pairs = [(root, entry) for root in roots if (entry := root.find(name))]
            if len(pairs) > 1:
                return Refused("unknown-record", f"{name!r} is in several roots; name one as `root`")
            return pairs[0] if pairs else Refused("unknown-record", f"no record has the address {name!r}")
        pair = await addressed(self.app, self.wanted)
        return pair or Refused("unknown-record", f"no record has the address {name or uri!r}")


class Deciding(Front):
    """One decision that is being made."""

    def __init__(self, app: App, locks: dict[str, asyncio.Lock], operation: Operation, wanted: dict[str, Any]) -> None:
        super().__init__(app, locks, wanted)
        self.operation: Operation = operation
        self.texts = {name: text(wanted, name) for name in ("note", "seen", "summary", "detail", "by")}
        self.events = strings(wanted, "events")

    async def answer(self) -> Answer:
        found = await self.found()
        if isinstance(found, Refused):
            return self.refused(found)
        root, entry = found
        told = await self.shielded(root.path, entry.directory, asks=self.asks)
        if not isinstance(told, str):
            return told
        if not await self.goes_on(told):
            return self.refused(Refused("cancelled", f"{entry.id}: cancelled, and nothing is written"))
        answer = await self.shielded(root.path, entry.directory, asks=False)
        return answer if isinstance(answer, dict) else {}

    async def shielded(self, path: str, directory: str, *, asks: bool) -> Answer | str:
        """The decision in a task that is not the request's: what is written is read again even where that is cancelled."""
        return await asyncio.shield(self.app.session.start(self.decide(path, directory, asks=asks)))

    def change(self, root: Root, directory: str) -> Change | Refused:
        """What is asked for, of a root as it is on disk."""
        entry = root.entries.get(directory)
        if entry is None:
            return Refused("unknown-record", f"{directory.rpartition('/')[2]} went in the meantime")
        seen, note = self.texts["seen"], self.texts["note"]
        if self.operation == "retract" and not self.events:
            last = undo(root, entry)
            if last is None:
                return Refused("nothing-to-undo", f"no person's decision on {entry.id} is left to take back")
            return Change(
                operation="retract", record=directory, seen=seen, note=note, events=last.events, label=last.label
            )
        by = self.texts["by"]
        path = self.app.session.path(by) if by and by.startswith("file:") else None
        held = root.of_file(path) if path else None
        return Change(
            operation=self.operation,
            # By its id where that was named, so that an id of several is refused.
            record=directory if text(self.wanted, "id") in (None, directory) else entry.id,
            seen=seen,
            note=note,
            events=self.events,
            summary=self.texts["summary"] or "",
            detail=self.texts["detail"] or "",
            by=held[0].directory if held else by,
            draft=self.is_draft,
        )

    @property
    def is_draft(self) -> bool:
        """Whether a replacement is asked for without its text, which the person then writes as a proposal."""
        return self.operation == "supersede" and not any(self.texts[name] for name in ("summary", "detail", "by"))

    # Whether other records are touched --------------------------------------------------------------------------------

    @property
    def asks(self) -> bool:
        """Whether the person may have to be asked before it is done, and can be."""
        able = self.app.capability("window", "show_message", "message_action_item")
        return bool(
            able and self.operation in ASKED and not self.is_draft and self.app.settings.get("confirmRetire") != "never"
        )

    async def goes_on(self, told: str) -> bool:
        """Whether the person goes on; everybody else is served while we wait for the word."""
        go = self.operation.capitalize()
        items = [types.MessageActionItem(go), types.MessageActionItem("Cancel")]
        params = types.ShowMessageRequestParams(types.MessageType.Warning, told, items)
        try:
            answer: Any = await asyncio.wrap_future(
                self.app.server.protocol.send_request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
            )
        except JsonRpcException:
            return False
        return getattr(answer, "title", None) == go

    def touched(self, root: Root, held: Buffers, directory: str, texts: Mapping[str, Text]) -> str | None:
        """What the person is asked, on a worker; None where the decision is refused, or touches nothing else."""
        always = self.app.settings.get("confirmRetire") == "always"
        entry = root.entries.get(directory)
        if entry is None or (self.operation == "accept" and not any(entry.related(PROPOSED))):
            return None
        outcome, commit = self.write(root, held, directory, texts, rehearsal=True)
        if isinstance(outcome.answer, Refused) or commit is None:
            return None
        # What is answered is about the record as it is now: one that moves while the person thinks is refused.
        here = (part.tail for part in commit.parts if f"{root.path}/{part.place}" == directory)
        self.texts["seen"] = self.texts["seen"] or next(here, None)
        entry = outcome.root.entries.get(directory, entry)
        # By the address that the change was decided by, whatever form the command gave it in.
        change = self.change(outcome.root, directory)
        by = change.by if isinstance(change, Change) else None
        found = impacts.impact(outcome.root, entry, self.operation, outcome.root.find(by) if by else None)
        if found.is_alone and not always:
            return None
        lines = impacts.sentences(outcome.root, found, plain)
        return " ".join([f"{self.operation.capitalize()} {plain(cards.title(entry))}?", *lines])

    # Deciding ---------------------------------------------------------------------------------------------------------

    async def decide(self, path: str, directory: str, *, asks: bool) -> Answer | str:
        """Decide and write; or, where it `asks` and other records are touched, the question, with nothing written."""
        async with self.lock(path):
            session = self.app.session
            root = session.current() and session.root_at(path)
            if root is None:
                return self.refused(Refused("unknown-record", f"{path} is no root any more"))
            held, texts = session.buffers[path].pinned(), self.open_texts(path)
            if asks and (told := await session.away(self.touched, root, held, directory, texts)):
                return told
            try:
                outcome, commit = await session.away(self.write, root, held, directory, texts)
            except OSError as error:
                await session.take_written(path, [directory], {})
                raise RequestFailed(f"{error.filename or path}: {error.strerror or error}") from error
            await self.take(
                path, [directory], commit or Commit(), texts if not isinstance(outcome.answer, Refused) else {}
            )
        if isinstance(outcome.answer, Refused):
            return self.refused(outcome.answer, await self.card(path, directory, None))
        for place in outcome.unsealed:
            self.warn(f"{place}: written, but its manifest could not be sealed")
        card = await self.card(path, directory, outcome.answer.record) or {}
        if self.is_draft and commit and commit.births:
            show(self.app, session.uri(f"{path}/{commit.births[0].place}/record.md"))
        return card

    def write(
        self, root: Root, held: Buffers, directory: str, texts: Mapping[str, Text], *, rehearsal: bool = False
    ) -> tuple[desk.Outcome, Commit | None]:
        """Decide and write, on a worker, with what the change comes to."""
        commits: list[Commit] = []

        def allowed(root: Root, commit: Commit) -> Refused | None:
            commits.append(commit)
            return unsaved(root, commit, texts)

        root = on_disk(root, held, [directory])
        change = self.change(root, directory)
        if isinstance(change, Refused):
            return desk.Outcome(change, root), None
        outcome = desk.ask(root, change, actor(), policy(self.app), rehearsal=rehearsal, allowed=allowed)
        return outcome, commits[-1] if commits else None

    async def card(self, path: str, directory: str, record: str | None) -> Answer | None:
        """The card of a record as it is now: of the one named, or of the one in a folder."""
        self.app.session.current()
        root = self.app.scene().snapshot.root_of(directory + "/")
        entry = root.entries.get(directory) if root else None
        if root and record is not None and (entry is None or entry.id != record):
            entry = root.find(record)
        if root is None or entry is None:
            return None
        return cast(Answer, await self.app.session.away(cards.card, root, entry))


class Collecting(Front):
    """Old generations that are being removed."""

    async def answer(self) -> Answer:
        dry = self.wanted.get("dryRun", False)
        if not isinstance(dry, bool):
            raise InvalidParams("Invalid Params: `dryRun` is true or false")
        roots = await self.roots()
        if len(roots) != 1:
            raise InvalidParams("Invalid Params: `root` names none of the open roots, or is needed to tell them apart")
        return await asyncio.shield(self.app.session.start(self.collect(roots[0].path, dry)))

    async def collect(self, path: str, dry: bool) -> Answer:
        session = self.app.session
        async with self.lock(path):
            root = session.current() and session.root_at(path)
            if root is None:
                return self.refused(Refused("unknown-record", f"{path} is no root any more"))
            if not policy(self.app).trusted:
                return self.refused(Refused("untrusted", "the folder is not trusted, so nothing in it is changed"))
            held, texts = session.buffers[path].pinned(), self.open_texts(path)
            try:
                answer = await session.away(collect, root, held, texts, dry=dry)
            except OSError as error:
                raise RequestFailed(f"{error.filename or path}: {error.strerror or error}") from error
            if isinstance(answer, Refused):
                return self.refused(answer)
            if not dry and not answer.is_empty:
                await self.take(path, [], answer, texts)
        gone, marked = [one.place for one in answer.removals], [one.place for one in answer.parts]
        return {"removed": gone, "marked": marked, **({"dryRun": True} if dry else {})}


def collect(root: Root, held: Buffers, texts: Mapping[str, Text], *, dry: bool) -> Commit | Refused:
    """Remove old generations, on a worker; what was removed, or with `dry` would be."""
    root = on_disk(root, held, [])
    commit = collection(root)
    if dry or not commit.removals:
        return commit if commit.removals else Commit()
    refused = unsaved(root, commit, texts)
    if refused:
        return refused
    written = writing.commit(root.path, commit, "memidex gc")
    return written if isinstance(written, Refused) else commit


async def compared(app: App, wanted: dict[str, Any]) -> Answer:
    """Show the record that a proposal would replace, unless the client says `"show": false` since it shows both itself."""
    front = Front(app, {}, wanted)
    found = await front.found()
    if isinstance(found, Refused):
        return front.refused(found)
    root, entry = found
    name = text(wanted, "target") or next(entry.related(PROPOSED), None)
    other = root.find(name) if name else None
    if other is None:
        return front.refused(Refused("target-missing", f"{name or 'what the record would replace'} is not there"))
    session = app.session
    original, proposal = (session.uri(f"{one.directory}/record.md") for one in (other, entry))
    if wanted.get("show") is not False:
        show(app, original)
    return {"original": original, "proposal": proposal}


def show(app: App, uri: str) -> None:
    """Have the client show a file, if it can; nothing waits for it."""
    if app.capability("window", "show_document", "support"):
        app.server.protocol.send_request(types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri, take_focus=True))


def on_disk(root: Root, held: Buffers, directories: Iterable[str]) -> Root:
    """The root as it is on disk as far as open texts hide that, with these bundles and what they are related to."""
    root = replace(root, reader=opening.Disk(root.path))
    root = opening.refreshed(root, {*held.bundles, *directories})
    near: set[str] = set()
    for entry in filter(None, map(root.entries.get, directories)):
        near.update(other.directory for other, _ in root.links_to(entry))
        near.update(other.directory for relation in entry.relations if (other := root.find(relation.target)))
    if len(near) <= MOST_NEAR:
        root = opening.refreshed(root, near.difference(directories))
    for path in held.files:
        product = product_of_ledger(root.path, path)
        if product is not None:
            root = opening.with_ledger(root, product)
    return root


def unsaved(root: Root, commit: Commit, texts: Mapping[str, Text]) -> Refused | None:
    """The refusal where an open text of a bundle that the commit writes to is not the one on disk."""
    for folder in desk.folders(root.path, commit):
        here = [path for path in texts if path.startswith(folder + "/")]
        bundle = root.reader.bundle(folder) if here else None
        for path in here if bundle else ():
            name = path[len(folder) + 1 :]
            known = bundle.files.get(name) if bundle else None
            if (known or name in FILES) and differs(known, name, texts[path].counts):
                return refusal(f"{name} of {folder.rpartition('/')[2]}", known, texts[path].counts)
    path = f"{root.path}/{POLICIES}"
    known = root.reader.file(path) if commit.rules and path in texts else None
    if commit.rules and path in texts and differs(known, POLICIES, texts[path].counts):
        return refusal(POLICIES, known, texts[path].counts)
    return None


def differs(known: File | None, name: str, source: Source) -> bool:
    return overlaid(known, name, source) is not known if known else bool(source.string)


def refusal(what: str, known: File | None, source: Source) -> Refused:
    """What says that a file has unsaved edits; of one that is only older than the disk, never that it should be saved."""
    if known is not None and known.source.string.startswith(source.string.removeprefix(BOM)):
        return Refused("unsaved-edits", f"{what} is open as it was before; read it again from disk first, or close it")
    return Refused("unsaved-edits", f"{what} is open with edits that are not saved; save or close it first")


def strings(wanted: dict[str, Any], name: str) -> tuple[str, ...]:
    value = wanted.get(name)
    if value is None:
        return ()
    found = cast(list[object], value) if isinstance(value, list) else [cast(object, value)]
    if not all(isinstance(item, str) for item in found):
        raise InvalidParams(f"Invalid Params: `{name}` is a list of strings")
    return tuple(cast(list[str], found))
