"""Three-way merges of what git cannot merge by lines: logs, ledgers, relations, manifests.

Each takes bytes and gives bytes, or None where it cannot be told what both sides want together. A side that changed nothing
has no say. What ours says stays to the byte; what theirs adds comes behind it.

`resolve` and `settled` do the same with what git left between its conflict markers, for merges that know no driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, cast

from memidex.records.memidex import relation_edits, render, values
from memidex.records.memidex.bundle import hash_like, leaves, plain, seal
from memidex.records.memidex.places import Node, Path
from memidex.records.memidex.read import File, parse
from memidex.text import Edit, Source, apply, decode

LOG, RELATIONS, MANIFEST = "evidence/outcomes.jsonl", "relations.json", "manifest.json"
LINES = (LOG, "evidence/gates.jsonl", "runs.jsonl")
"""Files whose lines only ever come behind each other."""
KINDS = (*LINES, RELATIONS, MANIFEST)
MARK = b"\xef\xbb\xbf"
MOST_EDITS = 500
"""A file that differs by more is for a person."""

Side = Literal["ours", "theirs"]


class Absent:
    """What is not there, where null may be."""


ABSENT = Absent()


class Clash(Exception):
    """Both sides changed one thing, and differently."""


class Sides(NamedTuple):
    """A file that both sides have, and what became of it; None where that is not known."""

    ours: bytes | None = None
    theirs: bytes | None = None
    merged: bytes | None = None


def merge(
    name: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    others: Mapping[str, Sides] | None = None,
    first: Side = "ours",
) -> bytes | None:
    """The file `name` of a bundle, or `runs.jsonl`, after a merge; None where it cannot be told. Never raises.

    Without `base` everything on either side is taken as added. A manifest asks `others` for the files that it seals.
    Of a log `first` is the side whose sealed part the manifest will name.
    """
    if ours == theirs or base == theirs:
        return ours
    if base == ours:
        return theirs
    try:
        if any(marked(data) for data in (ours, theirs)):
            return None
        if name in LINES:
            if base is not None and not (keeps(ours, base) and keeps(theirs, base)):
                return None  # a line was changed or taken away, which a union would bring back
            return lines(ours, theirs) if first == "ours" else lines(theirs, ours)
        if name == RELATIONS:
            return relations(base, ours, theirs)
        return manifest(base, ours, theirs, others or {}) if name == MANIFEST else None
    except (Clash, ValueError, RecursionError):
        return None


def marked(data: bytes) -> bool:
    from memidex.records.memidex import explain

    return b"<<<<<<<" in data and explain.conflict_markers(Source(decode(data)[0])) is not None


# Lines ----------------------------------------------------------------------------------------------------------------


def lines(ours: bytes, theirs: bytes) -> bytes:
    """Ours as it is, then the lines of theirs that are not in it.

    An event that another tool wrote in another way is known by its id. A line that was torn off stays last, or is left out
    where ours has the whole of it.
    """
    there = {line.rstrip(b"\r\n") for line in ours.split(b"\n")}
    said: set[str] | None = None
    new: list[bytes] = []
    rest = theirs.removeprefix(MARK).split(b"\n")
    for line in rest:
        line = line.rstrip(b"\r")
        if not line.strip() or line in there:
            continue
        there.add(line)
        event = event_of(line)
        if event is not None:
            if said is None:
                said = {text for known in ours.split(b"\n") if (text := event_of(known)) is not None}
            if event in said:
                continue
        new.append(line)
    if not new:
        return ours
    torn = bool(rest[-1].strip()) and rest[-1].rstrip(b"\r") == new[-1] and not is_json(new[-1])
    if torn and any(line.startswith(new[-1]) for line in there if line != new[-1]):
        new.pop()
        torn = False
        if not new:
            return ours
    end = b"\r\n" if b"\r\n" in (ours or theirs) else b"\n"
    head = ours + end if ours.strip(MARK) and not ours.endswith(b"\n") else ours
    return head + end.join(new) + (b"" if torn else end)


def keeps(side: bytes, base: bytes) -> bool:
    """Whether every whole line of the base is in a side, however it is written there."""
    rows = [line.rstrip(b"\r") for line in base.removeprefix(MARK).split(b"\n")]
    there = {line.rstrip(b"\r") for line in side.removeprefix(MARK).split(b"\n")}
    left = [line for line in rows if line.strip() and line not in there]
    if left and left[-1] == rows[-1] and not is_json(rows[-1]):
        left.pop()  # torn off, and perhaps completed since
    if not left:
        return True
    said = {event_of(line) for line in there}
    return all((event := event_of(line)) is not None and event in said for line in left)


def event_of(line: bytes) -> str | None:
    """What an event with an id says, whatever the order of its members."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    members = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    return told(members) if isinstance(members.get("id"), str) else None


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


# Values ---------------------------------------------------------------------------------------------------------------


def object_of(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def list_of(value: Any) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


def told(value: Any) -> str:
    """A value as it is compared."""
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)


def chosen(base: Any, ours: Any, theirs: Any) -> Any:
    """The value of the side that changed it. What one side took away and the other changed stays."""
    if told(ours) == told(theirs) or told(base) == told(theirs):
        return ours
    if told(base) == told(ours):
        return theirs
    if ours is ABSENT or theirs is ABSENT:
        return theirs if ours is ABSENT else ours
    raise Clash


def three(base: Any, ours: Any, theirs: Any) -> Any:
    """What both sides want of a value, an object member by member. Of two that were both added ours stays."""
    try:
        return chosen(base, ours, theirs)
    except Clash:
        pass
    mine, other, before = object_of(ours), object_of(theirs), object_of(base) or {}
    if mine is None or other is None:
        if base is ABSENT:
            return ours
        raise Clash
    names = dict.fromkeys((*mine, *other))
    found = {name: three(before.get(name, ABSENT), mine.get(name, ABSENT), other.get(name, ABSENT)) for name in names}
    return {name: value for name, value in found.items() if value is not ABSENT}


def altered(node: Node, value: Any) -> list[Edit]:
    """The edits that make a value another one, member by member where it has the same ones."""
    if told(node.value) == told(value):
        return []
    members = object_of(value)
    if members and members.keys() == node.members.keys() and not node.repeated:
        return [edit for name, part in members.items() for edit in altered(node.members[name][1], part)]
    return [Edit(node.span, json.dumps(value, ensure_ascii=False))]


def edited(data: bytes, file: File, edits: Iterable[Edit]) -> bytes:
    mark = MARK if data.startswith(MARK) else b""
    return mark + apply(file.source.string, edits).encode("utf-8", "surrogateescape")


def read(name: str, data: bytes | None) -> File | None:
    """The file, where it is JSON in UTF-8."""
    if data is None or not data.strip():
        return None
    data.decode()
    file = parse(name, data)
    return file if file.value is not None and file.tree is not None else None


def layout(base: str | None, ours: str, theirs: str) -> Side:
    """The side whose file is written into: that which alone changed its shape, or what it says besides its items.

    Without a base theirs is what it was before. Raises `Clash` where both changed that, and differently.
    """
    before = theirs if base is None else base
    if ours not in (theirs, before) and theirs != before:
        raise Clash
    return "theirs" if ours == before != theirs else "ours"


# Relations ------------------------------------------------------------------------------------------------------------

Key = tuple[str, str, int]
NO_RELATIONS = b'{\n  "relations": []\n}\n'


class Stated(NamedTuple):
    """The relations of a file in the order in which they stand, whichever shape it has, and all else that it says."""

    data: bytes
    file: File
    items: dict[Key, tuple[Path, Any]]
    """By type, target and how many of the kind stand before it."""
    rest: str


def relations(base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    mine, other = stated(ours or NO_RELATIONS), stated(theirs or NO_RELATIONS)
    if mine is None or other is None:
        return None
    before = stated(base)
    if layout(before and before.rest, mine.rest, other.rest) == "theirs":
        mine, other = other, mine
    old: dict[Key, tuple[Path, Any]] = before.items if before else {}

    def value(items: Mapping[Key, tuple[Path, Any]], key: Key) -> Any:
        return items[key][1] if key in items else ABSENT

    wanted = {
        key: three(value(old, key), value(mine.items, key), value(other.items, key))
        for key in dict.fromkeys((*mine.items, *other.items))
    }
    changes = [key for key, item in wanted.items() if told(item) != told(value(mine.items, key))]
    if len(changes) > MOST_EDITS:
        return None
    data = mine.data
    # From the end, so that those before keep their keys; what is new comes last.
    for key in reversed([key for key in changes if key in mine.items]):
        now = stated(data)
        if now is None or key not in now.items:
            return None
        path = now.items[key][0]
        item = wanted[key]
        node = now.file.tree.get(path) if now.file.tree else None
        if node is None:
            return None
        if item is ABSENT:
            removal = relation_edits.removal(now.file, path)
            if removal is None:
                return None
            edits = [removal]
        else:
            edits = altered(node, item if len(path) < 2 or path[0] == "relations" else without_type(item))
        data = edited(data, now.file, edits)
    for key in changes:
        if key in mine.items:
            continue
        now = stated(data)
        addition = relation_edits.insertion(now.file, wanted[key]) if now and isinstance(wanted[key], dict) else None
        if now is None or addition is None:
            return None
        data = edited(data, now.file, [addition])
    after = stated(data)
    expected = sorted(told(item) for item in wanted.values() if item is not ABSENT)
    return data if after and sorted(told(item) for _, item in after.items.values()) == expected else None


def stated(data: bytes | None) -> Stated | None:
    file = read(RELATIONS, data)
    if data is None or file is None or file.tree is None:
        return None
    rest: Any
    found: list[tuple[Path, Any]]
    items_alone, members = list_of(file.tree.value), object_of(file.tree.value)
    if items_alone is not None:
        rest = "list"
        found = [((index,), item) for index, item in enumerate(items_alone)]
    elif members is None:
        return None
    elif (named := list_of(members.get("relations"))) is not None:
        rest = {name: value for name, value in members.items() if name != "relations"}
        found = [(("relations", index), item) for index, item in enumerate(named)]
    else:
        rest = ["types", {name: value for name, value in members.items() if not isinstance(value, list)}]
        found = [
            ((kind, index), {"type": kind, **(object_of(item) or {"target": item})})
            for kind, targets in members.items()
            for index, item in enumerate(list_of(targets) or [])
        ]
    items: dict[Key, tuple[Path, Any]] = {}
    counted: dict[tuple[str, str], int] = {}
    for path, item in found:
        members = object_of(item) or {"": item}
        same = (told(members.get("type", ABSENT)), told(members.get("target", members.get("", ABSENT))))
        counted[same] = counted.get(same, 0) + 1
        items[(*same, counted[same])] = (path, item)
    return Stated(data, file, items, told(rest))


def without_type(item: Any) -> Any:
    members = {name: value for name, value in cast(dict[str, Any], item).items() if name != "type"}
    return members["target"] if members.keys() == {"target"} else members


# Manifests ------------------------------------------------------------------------------------------------------------


class Listed(NamedTuple):
    """What a manifest says of each file, by its path, and all else that it says."""

    data: bytes
    file: File
    entries: dict[str, Any]
    nodes: dict[str, Node]
    rest: str


def manifest(base: bytes | None, ours: bytes, theirs: bytes, others: Mapping[str, Sides]) -> bytes | None:
    """A manifest of which each entry is that of the side that wrote the file.

    Where both did, the file as it was merged is sealed, if it was sealed soundly on both sides; what was edited or rewritten
    on one stays told.
    """
    mine, other = listed(ours), listed(theirs)
    if mine is None or other is None:
        return None
    before = listed(base)
    by_theirs = layout(before and before.rest, mine.rest, other.rest) == "theirs"
    algorithm = cast(values.Manifest, mine.file.value).algorithm
    old: dict[str, Any] = before.entries if before else {}
    wanted: dict[str, Any] = {}
    for name in dict.fromkeys((*mine.entries, *other.entries)):
        of_three = (old.get(name, ABSENT), mine.entries.get(name, ABSENT), other.entries.get(name, ABSENT))
        wanted[name] = entry(name, *of_three, others.get(name, Sides()), algorithm)
    wanted = {name: item for name, item in wanted.items() if item is not ABSENT}
    canvas = other if by_theirs else mine
    for side in (canvas, *([other] if mine.rest == other.rest else [])):
        if told(side.entries) == told(wanted):
            return side.data
    if wanted.keys() == canvas.entries.keys():
        edits = [edit for name, item in wanted.items() for edit in altered(canvas.nodes[name], item)]
        return edited(canvas.data, canvas.file, edits)
    whole = dict(cast(dict[str, Any], canvas.file.tree.value if canvas.file.tree else {}))
    if list(canvas.entries) == sorted(canvas.entries):
        wanted = dict(sorted(wanted.items()))
    whole["files"] = list(wanted.values()) if isinstance(whole["files"], list) else wanted
    text = render.document(whole) if "\n" in canvas.file.source.string.strip() else render.line_of(whole) + "\n"
    return text.encode("utf-8", "surrogateescape")


def entry(name: str, base: Any, ours: Any, theirs: Any, sides: Sides, algorithm: str | None) -> Any:
    """What the manifest says of a file after the merge."""
    merged = sides.merged
    if merged is not None:
        # The file may be that of one side, whoever it was that sealed it.
        for state in ("sealed", "appended"):
            for item, content in ((ours, sides.ours), (theirs, sides.theirs)):
                if content == merged and state_of(name, merged, item, algorithm) == state:
                    return item
        if sides.ours is not None and sides.theirs is not None and ours is not ABSENT and theirs is not ABSENT:
            for item, content in ((ours, sides.ours), (theirs, sides.theirs)):
                if state_of(name, content, item, algorithm) not in ("sealed", "appended"):
                    return item
            return sealed_like(ours, merged, algorithm)
    try:
        return chosen(base, ours, theirs)
    except Clash:
        pass
    if merged is None:
        if name in KINDS and name != LOG:
            raise Clash
        return ours  # of a log the sealed part is its beginning still; any other file a person merges and looks at
    for item in (ours, theirs):
        if state_of(name, merged, item, algorithm) == "sealed":
            return item
    if name not in KINDS or (name == LOG and state_of(name, merged, ours, algorithm) != "appended"):
        return ours
    return sealed_like(ours, merged, algorithm)


def listed(data: bytes | None) -> Listed | None:
    file = read(MANIFEST, data)
    members = object_of(file.tree.value) if file and file.tree else None
    node = file.tree.get(("files",)) if file and file.tree else None
    if data is None or file is None or members is None or node is None:
        return None
    rest = {name: value for name, value in members.items() if name != "files"}
    entries, rows = object_of(node.value), list_of(node.value)
    if entries is not None:
        nodes = {plain(name): item for name, (_, item) in node.members.items()}
    else:
        nodes = {plain(str(item.members["path"][1].value)): item for item in node.items if "path" in item.members}
    if len(nodes) != len(entries if entries is not None else rows or []):
        return None
    told_of = {name: item.value for name, item in nodes.items()}
    return Listed(data, file, told_of, nodes, told([rows is None, rest]))


def sealed_names(*manifests: bytes) -> list[str]:
    """The files that any of these manifests lists, by their paths in the bundle."""
    names: dict[str, None] = {}
    for data in manifests:
        try:
            found = listed(data)
        except (ValueError, RecursionError):
            continue
        names.update(dict.fromkeys(found.entries if found else ()))
    return [name for name in names if not leaves(name)]


def state_of(name: str, content: bytes, item: Any, algorithm: str | None) -> str:
    """How a file stands to what a manifest says of it."""
    members = cast(dict[str, Any], item) if isinstance(item, dict) else {"hash": item}
    wanted, size = members.get("hash", members.get("sha256")), members.get("size")
    if not isinstance(wanted, str):
        return "unknown"
    return seal(name, content, values.Sealed(wanted, size if isinstance(size, int) else None), algorithm)


def sealed_like(model: Any, content: bytes, algorithm: str | None) -> Any:
    """An entry for other bytes, written as one is."""
    if isinstance(model, str):
        return hash_like(model, content, algorithm)
    members = dict(cast(dict[str, Any], model))
    for key in ("hash", "sha256"):
        if isinstance(members.get(key), str):
            members[key] = hash_like(members[key], content, algorithm)
    if "size" in members:
        members["size"] = len(content)
    return members


# Conflict markers -----------------------------------------------------------------------------------------------------


class Marked(NamedTuple):
    """The sides of a file with git's markers in it; `base` only where git wrote it down for each conflict."""

    base: bytes | None
    ours: bytes
    theirs: bytes


def sides(data: bytes) -> Marked:
    from memidex.records.memidex import explain

    source = Source(decode(data)[0])
    kinds = [found.group(1)[0] for line in range(len(source.line_starts)) if (found := explain.CONFLICT.match(source.line_text(line)))]  # fmt: skip
    base, ours, theirs = (
        explain.resolve(source, side).encode("utf-8", "surrogateescape") for side in ("base", "ours", "theirs")
    )
    return Marked(base if kinds.count("|") == kinds.count("<") else None, ours, theirs)


def settled(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """What becomes of the files of a bundle, or a ledger, in which git left markers; without those that a person must merge."""
    found: dict[str, bytes] = {}
    for name in sorted(files, key=lambda name: name == MANIFEST):  # the manifest last: it seals the others
        if name not in KINDS or not marked(files[name]):
            continue
        after = resolve(name, files, found)
        if after is not None:
            found[name] = after
    return found


def resolve(name: str, files: Mapping[str, bytes], found: Mapping[str, bytes]) -> bytes | None:
    marks = sides(files[name])
    base = marks.base
    try:
        if base is not None and name in (RELATIONS, MANIFEST) and read(name, base) is None:
            base = None  # git leaves out of it what both sides have (zdiff3)
    except ValueError:
        base = None
    if name == MANIFEST:
        others = {
            other: Sides(*sides(content)[1:], found[other]) if other in found else Sides(merged=content)
            for other, content in files.items()
            if other in found or not marked(content)
        }
        return merge(name, base, marks.ours, marks.theirs, others)
    first: Side = "ours"
    if name == LOG and MANIFEST in files and not marked(files[MANIFEST]):
        first = sealed_first(files[MANIFEST], marks.ours, marks.theirs)
    return merge(name, base, marks.ours, marks.theirs, first=first)


def sealed_first(manifest: bytes, ours: bytes, theirs: bytes) -> Side:
    """The side of a log that a manifest seals, where it is one that is to come first."""
    try:
        found = listed(manifest)
    except ValueError:
        return "ours"
    if found is None or LOG not in found.entries:
        return "ours"
    algorithm = cast(values.Manifest, found.file.value).algorithm
    mine, other = (state_of(LOG, content, found.entries[LOG], algorithm) for content in (ours, theirs))
    good = ("sealed", "appended")
    return "theirs" if mine not in good and other in good else "ours"


def is_certain(name: str, data: bytes) -> bool:
    """Whether there is one right answer.

    Without a base it is not known what a side took away: not where a side has nothing of its own, though it changed
    something, and not where a proposal may have been taken up on the side that lacks it.
    """
    marks = sides(data)
    if name != RELATIONS or marks.base is not None:
        return True
    mine, other = stated(marks.ours), stated(marks.theirs)
    if mine is None or other is None or not (mine.items.keys() - other.items and other.items.keys() - mine.items):
        return False
    word = b"proposed-supersession-of"
    return marks.ours.count(word) == marks.theirs.count(word)
