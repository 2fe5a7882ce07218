"""From a commit to files: compared with what is there under the root's lock, then all of it or nothing (contract, section 11).

What a commit comes to is worked out from the files as they are when the lock is held; `disk` touches them. A commit of one
line is one append. Any other is put down in the journal first: from then on it is decided, and whoever opens the root next
finishes what a crash left, by the same steps, each of which does nothing where it was done already.
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from memidex.history.change import Refused, tail
from memidex.records.memidex import bundle as bundles
from memidex.records.memidex import render
from memidex.records.memidex.bundle import Bundle, hash_like, plain, seal
from memidex.records.memidex.places import Node
from memidex.records.memidex.read import File, parse
from memidex.records.memidex.values import Sealed
from memidex.store import disk
from memidex.store.commit import Birth, Commit, Part, Removal, Rule, relations_after
from memidex.text import Edit, apply

LOG, RELATIONS, MANIFEST, POLICIES = "evidence/outcomes.jsonl", "relations.json", "manifest.json", "policies.md"
PLACE = re.compile(r"memory/[^/]+/bundles/[^/.][^/]*")
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
GONE = (errno.ENOENT, errno.ENOTDIR)
ATTEMPTS = 5
"""How often a step is done anew where another program, which takes no lock, changed a file in the midst of it."""
JOURNAL_VERSION = 1


class Written(Struct, frozen=True):
    """A commit that is on the disk. `unsealed` are places whose manifest could not be written after it."""

    commit: Commit
    unsealed: tuple[str, ...] = ()


class Unfinished(OSError):
    """The disk failed in the midst of a commit that is decided: the next writer, or who opens the root, finishes it."""


class Journal(Struct, frozen=True):
    """What is put down before a commit of several steps."""

    version: int
    commit: Commit
    sealable: dict[str, tuple[str, ...]]
    """By place, the files whose seal was sound before, so that it is to follow what the commit writes."""


ENCODER = msgspec.json.Encoder()
DECODER = msgspec.json.Decoder(Journal)


def commit(root: str, commit: Commit, who: str = "memidex", patience: float = disk.PATIENCE) -> Written | Refused:
    """Write a commit, or refuse it with nothing written.

    Refused are a record that moved (`stale`), went (`unknown-record`) or cannot be written to, a root that is locked by
    another process (`busy`, after `patience` seconds), that cannot be locked, or that is `read-only`. Raises `OSError` where
    the disk fails otherwise: before or after the commit, which the error says by being `Unfinished` or not.
    """
    try:
        with disk.holding(root, who, patience):
            finish(root)
            return write(root, commit)
    except disk.Busy as error:
        return Refused("busy", f"{root}: {error.strerror}")
    except disk.CannotLock as error:
        return Refused("cannot-lock", f"{root}: {error.strerror}")
    except Unfinished:
        raise
    except OSError as error:
        if error.errno in FORBIDDEN:
            return Refused("read-only", f"{error.filename or root} cannot be written: {error.strerror}")
        if isinstance(error, disk.Moved) or error.errno in GONE:  # another program, which takes no lock
            return Refused("stale", f"{error.filename or root} changed while it was written to: {error.strerror}")
        raise


def roll_forward(root: str, who: str = "memidex", patience: float = disk.PATIENCE) -> bool:
    """Finish what a crash left of a commit; whether anything was. Nothing is raised: who reads a root reads it as it is."""
    if disk.read_journal(root) is None:
        return False
    try:
        with disk.holding(root, who, patience):
            return finish(root)
    except OSError:
        return False


def finish(root: str) -> bool:
    """Under the lock: do what is left of the commit in the journal.

    A commit of which nothing is to be seen and whose records moved since (another branch was checked out) is let go: it was
    acknowledged to nobody.
    """
    data = disk.read_journal(root)
    if data is None:
        return False
    try:
        journal = DECODER.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError):
        journal = None
    wanted = journal is not None and journal.version == JOURNAL_VERSION and is_wanted(root, journal.commit)
    if journal is not None and wanted:
        insisting(root, journal.commit, journal.sealable)
    disk.clear_journal(root)
    return wanted


def is_wanted(root: str, commit: Commit) -> bool:
    """Whether a commit was begun, or can be begun as it was decided."""
    if any(disk.exists(f"{root}/{birth.place}") for birth in commit.births):
        return True
    if any(not disk.exists(f"{root}/{removal.place}") for removal in commit.removals):
        return True
    as_decided = all(tail(log_of(root, removal) or b"") == removal.tail for removal in commit.removals)
    for part in commit.parts:
        log = log_of(root, part)
        if log is None:
            as_decided = False
            continue
        left = missing(part, log)
        if part.events and len(left) < len(part.events):
            return True
        as_decided = as_decided and is_as_decided(part, log)
    return as_decided


def is_as_decided(part: Part, log: bytes) -> bool:
    """Whether a log is what was decided upon, or that with a piece of our own lines behind it."""
    rest = behind(part, log)
    return rest is not None and payload(part, log[: len(log) - len(rest)], part.events).startswith(rest)


def log_of(root: str, part: Part | Removal) -> bytes | None:
    if not disk.is_plain_folder(f"{root}/{part.place}", root):
        return None
    found = disk.read_other(f"{root}/{part.place}/{LOG}", root)
    return found if isinstance(found, bytes) else None


# A commit -------------------------------------------------------------------------------------------------------------


def write(root: str, commit: Commit) -> Written | Refused:
    """Under the lock: compare, then write."""
    sealable: dict[str, tuple[str, ...]] = {}
    for part in commit.parts:
        found = looked_at(root, part)
        if isinstance(found, Refused):
            return found
        sealable[part.place] = tuple(sound_seals(found))
    for birth in commit.births:
        refused = room_for(root, birth)
        if refused:
            return refused
    for removal in commit.removals:
        name = removal.place.rpartition("/")[2]
        if not PLACE.fullmatch(removal.place) or not disk.is_plain_folder(f"{root}/{removal.place}", root):
            return Refused("unknown-record", f"{name} is not there")
        if tail(log_of(root, removal) or b"") != removal.tail:
            return Refused("stale", f"{name} changed after it was looked at")
    closed = next((path for path in written_to(root, commit) if not disk.is_writable(path)), None)
    if closed:
        return Refused("read-only", f"{closed} may not be written to")
    if is_one_line(commit):
        return one_line(root, commit, sealable)
    disk.write_journal(root, ENCODER.encode(Journal(JOURNAL_VERSION, commit, sealable)))
    try:
        unsealed = insisting(root, commit, sealable)
    except OSError as error:
        if not is_begun(root, commit):
            disk.clear_journal(root)
            raise
        message = f"{error.strerror}; what is left of the decision is written when the root is opened next"
        raise Unfinished(error.errno, message, error.filename) from error
    disk.clear_journal(root)
    return Written(commit, unsealed)


def written_to(root: str, commit: Commit) -> Iterator[str]:
    """The folders and logs that a commit writes to: known beforehand, so that none is found closed in the midst of it."""
    for part in commit.parts:
        yield f"{root}/{part.place}"
        if part.events:
            yield f"{root}/{part.place}/{LOG}"
    for item in (*commit.births, *commit.removals):
        yield f"{root}/{item.place}".rpartition("/")[0]
    if commit.rules:
        yield root


def looked_at(root: str, part: Part) -> Bundle | Refused:
    """The bundle of a part as it is now, where the part may be written to it."""
    name = part.place.rpartition("/")[2]
    directory = f"{root}/{part.place}"
    if not PLACE.fullmatch(part.place) or not disk.is_plain_folder(directory, root):
        return Refused("unknown-record", f"{name} is not there")
    contents = disk.read(directory, root)
    if contents is None:
        return Refused("unknown-record", f"{name} is not there")
    bundle = bundles.read(directory, directory.rsplit("/", 3)[1], contents.files, contents.others, contents.faults)
    if not part.seals and (LOG not in bundle.files or not disk.is_plain_folder(f"{directory}/evidence", root)):
        return Refused("unsound", f"the log of {name} cannot be written to")
    file = bundle.files.get(LOG)
    if tail(file.data if file else b"") != part.tail:
        return Refused("stale", f"{name} changed after it was looked at")
    if part.relations:
        relations = bundle.files.get(RELATIONS)
        after = relations_after(relations.data if relations else None, part.relations)
        if RELATIONS in bundle.faults or after is None:
            return Refused("unreadable-relations", f"{RELATIONS} of {name} cannot be edited")
    return bundle


def room_for(root: str, birth: Birth) -> Refused | None:
    directory = f"{root}/{birth.place}"
    folder, _, name = directory.rpartition("/")
    if not PLACE.fullmatch(birth.place) or not disk.is_plain_folder(folder, root):
        return Refused("unknown-record", f"there is no folder for {name}")
    return Refused("replacement-exists", f"{name} is there already") if disk.exists(directory) else None


def is_one_line(commit: Commit) -> bool:
    """Whether a commit is a single line of a single log, or a manifest alone: written in one step, it needs no journal."""
    if commit.births or commit.rules or commit.removals or len(commit.parts) != 1:
        return False
    return len(commit.parts[0].events) <= 1 and not commit.parts[0].relations


def is_begun(root: str, commit: Commit) -> bool:
    """Whether anything of a commit is to be seen."""
    if any(disk.exists(f"{root}/{birth.place}") for birth in commit.births):
        return True
    if any(not disk.exists(f"{root}/{removal.place}") for removal in commit.removals):
        return True
    for part in commit.parts:
        log = log_of(root, part)
        if log is not None and part.events and (len(missing(part, log)) < len(part.events) or behind(part, log)):
            return True
    return not any(part.events for part in commit.parts)


def one_line(root: str, commit: Commit, sealable: Mapping[str, tuple[str, ...]]) -> Written:
    part = commit.parts[0]
    append_events(root, part)
    return Written(commit, sealed_after(root, part, sealable, sync=True))


def insisting(root: str, commit: Commit, sealable: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Carry a commit out, anew where another program changed its files once anything of it is to be seen."""
    for _ in range(ATTEMPTS):
        try:
            return carry_out(root, commit, sealable)
        except OSError as error:
            if not (isinstance(error, disk.Moved) or error.errno in GONE) or not is_begun(root, commit):
                raise
    return carry_out(root, commit, sealable)


def carry_out(root: str, commit: Commit, sealable: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Every step of a commit that was not done yet, the manifests last; the places whose manifest could not be written."""
    unsealed: tuple[str, ...] = ()
    several = len(commit.parts) > 1 or bool(commit.births or commit.removals)
    for birth in commit.births:
        if not disk.exists(f"{root}/{birth.place}"):
            disk.make_bundle(f"{root}/{birth.place}", {name: text.encode() for name, text in birth.files.items()})
    # A record that another branch does not have, of which what git ignores may be left, has no part in it any more.
    parts = [part for part in commit.parts if is_there(root, part)]
    for part in parts:
        append_events(root, part)
    for part in parts:
        if part.relations:
            relate(root, part)
    if commit.rules:
        write_rules(root, commit.rules)
    for part in parts:
        # What the log holds is durable already: a manifest that the power takes back leaves the state `appended`.
        unsealed += sealed_after(root, part, sealable, sync=several or bool(part.relations))
    for removal in commit.removals:
        disk.remove_bundle(f"{root}/{removal.place}")
    return unsealed


def is_there(root: str, part: Part) -> bool:
    folder = f"{root}/{part.place}"
    if not part.events:
        return disk.is_plain_folder(folder, root)
    return disk.is_plain_folder(f"{folder}/evidence", root) and disk.exists(f"{folder}/{LOG}")


# The log --------------------------------------------------------------------------------------------------------------


def behind(part: Part, log: bytes) -> bytes | None:
    """What stands in a log behind that which was decided upon; None where that is no longer its beginning."""
    size = int(part.tail.partition("-")[0])
    return log[size:] if tail(log[:size]) == part.tail else None


def missing(part: Part, log: bytes) -> list[Any]:
    """The events of a part that a log does not hold."""
    there = set(parse(LOG, log).value.identities) if log else set[str]()
    return [event for event in part.events if event.id not in there]


def payload(part: Part, log: bytes, events: Iterable[Any]) -> bytes:
    """The lines to append; a last line that was torn off is completed first and stays a line of its own."""
    lines = render.events(events).encode()
    return b"\n" + lines if lines and log and not log.endswith(b"\n") else lines


def append_events(root: str, part: Part) -> None:
    """Append the events of a part that are not there yet; our own line that was torn off is written to its end."""
    if not part.events:
        return
    path = f"{root}/{part.place}/{LOG}"
    log = disk.read_file(path)
    rest = behind(part, log)
    if rest is not None:
        whole = payload(part, log[: len(log) - len(rest)], part.events)
        if whole.startswith(rest):
            if rest != whole:
                disk.append_lines(path, whole[len(rest) :])
            return
    left = missing(part, log)
    if left:
        disk.append_lines(path, payload(part, log, left))


# Relations and rules --------------------------------------------------------------------------------------------------


def relate(root: str, part: Part) -> None:
    path = f"{root}/{part.place}/{RELATIONS}"
    found = disk.read_other(path, root)
    before = found if isinstance(found, bytes) else None
    after = relations_after(before, part.relations)
    if after is not None and after != before:
        disk.put(path, after, still=lambda: disk.read_other(path, root) == found)


def write_rules(root: str, rules: Iterable[Rule]) -> None:
    """Rules that come to `policies.md` or go from it; a rule is there once, known by its record's address."""
    path = f"{root}/{POLICIES}"
    found = disk.read_other(path, root)
    if found is not None and not isinstance(found, bytes):
        raise OSError(errno.EINVAL, found.message, path)
    before = after = found or b""
    for rule in rules:
        line = rule.line.encode() + b"\n"
        if rule.action == "add" and rule.address.encode() not in after:
            after = (after + (b"" if after.endswith(b"\n") else b"\n") if after else b"# Policies\n\n") + line
        elif rule.action == "drop":
            after = b"".join(old for old in after.splitlines(keepends=True) if old.rstrip(b"\r\n") != line[:-1])
    if after != before:
        disk.put(path, after, still=lambda: disk.read_other(path, root) == found)


# Manifests ------------------------------------------------------------------------------------------------------------


def sound_seals(bundle: Bundle) -> list[str]:
    """Of the files that a decision writes those whose seal may follow: sealed as they are, or not there yet."""
    manifest = bundle.manifest
    if manifest is None:
        return []
    listed = {plain(name): sealed for name, sealed in manifest.files.items()}
    sound: list[str] = []
    for name in (LOG, RELATIONS):
        file = bundle.files.get(name)
        if file is None:
            if name not in listed and name not in bundle.faults:
                sound.append(name)
        elif name in listed and seal(name, file.data, listed[name], manifest.algorithm) in ("sealed", "appended"):
            sound.append(name)
    return sound


def sealed_after(root: str, part: Part, sealable: Mapping[str, tuple[str, ...]], *, sync: bool) -> tuple[str, ...]:
    """Bring the manifest of a part to its files as they are now; its place where the disk does not let that be.

    A log that is longer than its seal is a sound state, and the next decision seals it. Of anything else the seal is a
    part of the commit: the error is raised.
    """
    for _ in range(ATTEMPTS):
        try:
            bring_manifest(root, part, sealable.get(part.place, ()), sync=sync)
            return ()
        except disk.Moved:
            continue  # another program changed what was sealed
        except OSError:
            if part.seals or part.relations:
                raise
            break
    return (part.place,)


def bring_manifest(root: str, part: Part, sealable: Iterable[str], *, sync: bool) -> None:
    folder = f"{root}/{part.place}"
    contents = disk.read(folder, root)
    if contents is None:
        return
    before, sealed = contents.files.get(MANIFEST), contents.files
    if part.seals:
        after = resealed(before, contents.files)
    else:
        sealed = {
            name: contents.files[name]
            for name in sealable
            if name in contents.files and is_ours(part, name, contents.files[name])
        }
        after = manifest_after(before, sealed) if before else None
    if after is None or after == before:
        return
    watched = {**sealed, **({MANIFEST: before} if before else {})}
    disk.put(
        f"{folder}/{MANIFEST}",
        after,
        sync=sync,
        still=lambda: all(disk.read_other(f"{folder}/{name}", root) == data for name, data in watched.items()),
    )


def is_ours(part: Part, name: str, data: bytes) -> bool:
    """Whether a file is one that the part wrote to: what another program put in its place meanwhile is not sealed."""
    return behind(part, data) is not None if name == LOG else bool(part.relations)


def manifest_after(data: bytes, files: Mapping[str, bytes]) -> bytes | None:
    """A manifest with these files sealed as they are, its shape and every other byte kept; None where that cannot be."""
    for name, content in files.items():
        file = parse(MANIFEST, data)
        if file.value is None or file.tree is None:
            return None
        entry = entry_of(file, name)
        if entry is None:
            return resealed(data, files, only=True)
        edits = entry_edits(entry, content, file.value.algorithm)
        mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""
        data = mark + apply(file.source.string, edits).encode("utf-8", "surrogateescape")
    return data


def entry_of(file: File, name: str) -> Node | None:
    """What a manifest says of a file, in any of the shapes that are read."""
    listed = file.tree.get(("files",)) if file.tree else None
    if listed is None:
        return None
    for key, (_, node) in listed.members.items():
        if plain(key) == name:
            return node
    for node in listed.items:
        if "path" in node.members and plain(str(node.members["path"][1].value)) == name:
            return node
    return None


def entry_edits(entry: Node, content: bytes, algorithm: str | None) -> list[Edit]:
    if isinstance(entry.value, str):
        return [Edit(entry.span, f'"{hash_like(entry.value, content, algorithm)}"')]
    edits: list[Edit] = []
    for key, (_, node) in entry.members.items():
        if key in ("hash", "sha256") and isinstance(node.value, str):
            edits.append(Edit(node.span, f'"{hash_like(node.value, content, algorithm)}"'))
        elif key == "size":
            edits.append(Edit(node.span, str(len(content))))
    return edits


def resealed(data: bytes | None, files: Mapping[str, bytes], *, only: bool = False) -> bytes:
    """A manifest of these files, in the shape of the one before where that is known; with `only`, of these besides the rest.

    What another writer says in it besides the files stays.
    """
    wanted = {name: content for name, content in files.items() if name != MANIFEST and not bundles.is_left_over(name)}
    file = parse(MANIFEST, data) if data else None
    if file is None or file.value is None or file.tree is None:
        return render.manifest(bundles.seal_of(wanted)).encode()
    whole: dict[str, Any] = cast(dict[str, Any], msgspec.json.decode(file.source.string.encode()))
    algorithm: str | None = file.value.algorithm
    before: Any = whole["files"]
    if isinstance(before, list):
        old = {plain(str(item["path"])): item for item in cast(list[dict[str, Any]], before)}
    else:
        old = {plain(name): item for name, item in cast(dict[str, Any], before).items()}
    if only:
        kept = dict(old)
    else:
        kept = {name: item for name, item in old.items() if name in wanted or bundles.leaves(name) or is_artifact(name)}
    example = next(iter(old.values()), None)
    for name, content in sorted(wanted.items()):
        kept[name] = entry_like(kept.get(name, example), name, content, algorithm)
    whole["files"] = list(kept.values()) if isinstance(before, list) else kept
    return render.document(whole).encode()


def is_artifact(name: str) -> bool:
    return name.partition("/")[0] == "artifacts"


def entry_like(model: Any, name: str, content: bytes, algorithm: str | None) -> Any:
    """What a manifest says of a file, as it says it of another or said it before."""
    if isinstance(model, str):
        return hash_like(model, content, algorithm)
    if not isinstance(model, dict):
        return render.bare(Sealed(hashlib.sha256(content).hexdigest(), len(content)))
    entry = dict(cast(dict[str, Any], model))
    key = "hash" if "hash" in entry else "sha256"
    entry[key] = hash_like(str(entry.get(key, "")), content, algorithm)
    if "size" in entry or "path" not in entry:
        entry["size"] = len(content)
    if "path" in entry:
        entry["path"] = name
    return entry
