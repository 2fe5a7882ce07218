"""Why a file was not accepted: every problem of it, each at its place, and whatever could be read all the same.

Imported only when the accepting path refuses a file: pydantic, PyYAML and python-frontmatter are paid for here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, TypeVar, cast

import msgspec
from pydantic import BaseModel, TypeAdapter, ValidationError

from memidex.records.memidex import formats, values
from memidex.records.memidex.places import At, Node, Path, Place, Unreadable, json_tree
from memidex.records.memidex.read import File, Log, Problem, RelationList, identity
from memidex.records.memidex.vocabulary import ANCHOR_FIELDS, DERIVED_FIELDS, RELATIONS, SCHEMA_VERSION, SECTIONS
from memidex.text import Source, Span

CONFLICT = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?: |$)")
ALLOW = re.compile(r"<!--[ \t]*memidex:[ \t]*allow[ \t]+([A-Za-z0-9_, -]*?)[ \t]*-->")
T = TypeVar("T", bound=msgspec.Struct)
MAX_PROBLEMS = 200
"""A file of a thousand wrong lines is told once it is clear that it is wrong."""
MAX_WRONG_LINES = 2000
"""Lines of one file that are looked into one by one: a file of millions must not hold up the others."""


def file(name: str, data: bytes) -> File:
    """The file with its problems; what is right in it is read."""
    found = File(name, data, None)
    problems: list[Problem] = []
    conflict = conflict_markers(found.source)
    read_from = found
    if conflict:
        # Read as if one side had been taken, so that the record does not vanish; only the markers are reported.
        problems.append(conflict)
        side = "both" if name.endswith(".jsonl") else "ours"
        read_from = File(name, resolve(found.source, side).encode("utf-8", "replace"), None)
    reader = READERS.get(name)
    found.value = reader(read_from, problems) if reader else None
    if conflict:
        problems = problems[:1]
    elif NO_TEXT.search(found.source.string):
        problems = [problem for problem in problems if not by_encoding(found.source, problem)]
    found.problems = tuple(problems[:MAX_PROBLEMS])
    return found


UNREADABLE = {"unreadable-frontmatter", "unreadable-event", "torn-line", "bad-json"}
NO_TEXT = re.compile("[\0\udc80-\udcff]")


def by_encoding(source: Source, problem: Problem) -> bool:
    """Whether a line cannot be read for bytes that are no text, which bad-encoding reports."""
    if problem.rule not in UNREADABLE or not isinstance(problem.at, Span):
        return False
    return NO_TEXT.search(source.line_text(source.line_of(problem.at.start))) is not None


# git's conflict markers -----------------------------------------------------------------------------------------------


def conflict_markers(source: Source) -> Problem | None:
    """The first marker, where the file has an opening and a closing one."""
    if "<<<<<<<" not in source.string or ">>>>>>>" not in source.string:
        return None
    marks = [line for line in range(len(source.line_starts)) if CONFLICT.match(source.line_text(line))]
    kinds = [source.line_text(line)[0] for line in marks]
    if "<" not in kinds or ">" not in kinds[kinds.index("<") :]:
        return None
    line = marks[kinds.index("<")]
    return Problem(
        "conflict-markers", source.line_span(line), "git left conflict markers here; choose which side stays"
    )


def resolve(source: Source, side: str) -> str:
    """The text with each conflict settled to `ours`, `theirs`, `base` or `both` (ours first, lines of both sides once)."""
    kept: list[str] = []
    state = ""
    ours: set[str] = set()
    bounds = [*source.line_starts, len(source)]
    for index in range(len(source.line_starts)):
        text = source.string[bounds[index] : bounds[index + 1]]
        mark = CONFLICT.match(text.rstrip("\r\n"))
        kind = mark.group(1)[0] if mark else ""
        if kind == "<" and not state:
            state = "ours"
            ours.clear()
        elif kind == "|" and state == "ours":
            state = "base"
        elif kind == "=" and state in ("ours", "base"):
            state = "theirs"
        elif kind == ">" and state == "theirs":
            state = ""
        elif not state or (state == "ours" and side in ("ours", "both")):
            ours.add(text)
            kept.append(text)
        elif (state != "ours" and side == state) or (state == "theirs" and side == "both" and text not in ours):
            kept.append(text)
    return "".join(kept)


# models ---------------------------------------------------------------------------------------------------------------


def object_of(value: Any) -> dict[str, Any] | None:
    """The value, where it is a JSON object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def list_of(value: Any) -> list[Any] | None:
    """The value, where it is a list."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def real_path(location: Iterable[str | int], value: Any) -> Path:
    """pydantic's location without the names of union branches, which are no part of the document."""
    path: list[str | int] = []
    here = value
    steps = list(location)
    for index, step in enumerate(steps):
        last = index == len(steps) - 1
        members, items = object_of(here), list_of(here)
        if members is not None and isinstance(step, str) and (step in members or last):
            if step not in members and path and last and step in BRANCHES:
                continue
            path.append(step)
            here = members.get(step)
        elif items is not None and isinstance(step, int) and step < len(items):
            path.append(step)
            here = items[step]
    return tuple(path)


BRANCHES = {"constrained-int", "str", "int", "float", "constrained-str", "Sealed", "function-after[rfc3339(), str]"}


def name_of(value: Any) -> str:
    """A value as a message shows it: short, and telling its type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}..."'
    if isinstance(value, (int, float)):
        return str(value)[:60]
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, date):
        return f"the date {value}"
    return f"a {type(value).__name__}"


WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "literal_error": "",
}


def describe(error: Any, path: Path) -> str:
    """What is wrong, which value, what would be right."""
    where = path[-1] if path else "the value"
    name = where if isinstance(where, str) else f"item {where + 1}"
    kind, got = error["type"], name_of(error["input"])
    context: dict[str, Any] = error.get("ctx") or {}
    match kind:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            return f"{name} is not a field of the format"
        case "literal_error":
            return f"{name} is {got}; it can be {context['expected'].replace(chr(39), '')}"
        case "union_tag_invalid":
            return f"t is {name_of(error['input'].get('t'))}; it can be {context['expected_tags'].replace(chr(39), '')}"
        case "union_tag_not_found":
            return "an anchor's form has a `t` that says what it points at"
        case "greater_than_equal" | "less_than" | "greater_than":
            return f"{name} is {got}; it is a whole number from 0"
        case "string_pattern_mismatch":
            return f"{name} is {got}, which is not a content hash"
        case "too_short":
            return f"{name} is empty"
        case _ if kind in WANTED:
            return f"{name} is {got}{SHOULD}{WANTED[kind]}"
        case _:
            return f"{name} is {got}: {str(error['msg']).removeprefix('Value error, ')}"


WORDS = {"literal_error", "union_tag_invalid"}
SHOULD = "; it should be "


def either(message: str, other: str) -> str:
    """The message of a value that may be of another type too."""
    before, should, wanted = message.rpartition(SHOULD)
    if not should or wanted == other:
        return message
    return f"{before}{should}{other}" if other == WANTED["float_type"] else f"{message} or {other}"


def problems_of(
    adapter: TypeAdapter[Any], value: Any, name_rule: Callable[[str, Path], str]
) -> list[tuple[Path, Problem]]:
    """Every way in which the model refuses the value, one for each place."""
    try:
        adapter.validate_python(value)
    except ValidationError as failure:
        found: dict[Path, Problem] = {}
        for error in failure.errors(include_url=False):
            path = real_path(error["loc"], value)
            at = (
                Place((*path, "t"))
                if error["type"] == "union_tag_invalid"
                else Place(path, "key" if error["type"] == "extra_forbidden" else "value")
            )
            wrong = error["input"].get("t") if error["type"] == "union_tag_invalid" else error["input"]
            # A word of the format is text; where there is none at all, the type is wrong and not the word.
            kind = "string_type" if error["type"] in WORDS and not isinstance(wrong, str) else error["type"]
            problem = Problem(name_rule(kind, at.path), at, describe(error, path), wrong)
            if path not in found:
                found[path] = problem
            elif error["type"] in WANTED:  # another branch of a union
                found[path] = found[path]._replace(message=either(found[path].message, WANTED[error["type"]]))
        return list(found.items())
    except RecursionError:
        return [((), Problem(name_rule("recursion", ()), Place(), "nested too deeply"))]
    return []


ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def adapter(model: type[BaseModel]) -> TypeAdapter[Any]:
    return ADAPTERS.setdefault(model, TypeAdapter(model))


def salvage(wanted: type[T], value: dict[str, Any], problems: Iterable[tuple[Path, Problem]]) -> T | None:
    """The struct from the members that have no problem; None where a needed one has."""
    wrong = {path[0] for path, _ in problems if path}
    try:
        return msgspec.convert({name: item for name, item in value.items() if name not in wrong}, wanted)
    except (msgspec.ValidationError, RecursionError):
        return None


# record.md ------------------------------------------------------------------------------------------------------------


def record(found: File, problems: list[Problem]) -> values.Record:
    parts = found.layout
    allowed = tuple(
        name
        for match in ALLOW.finditer(found.source[parts.body])
        for name in re.split(r"[ ,]+", match.group(1))
        if name
    )
    if parts.unreadable:
        at = parts.unreadable.offset
        problems.append(
            Problem(
                "unreadable-frontmatter",
                Span(at, min(at + 1, len(found.source))),
                f"The frontmatter cannot be read: {parts.unreadable.message}",
            )
        )
        return values.Record(allowed=allowed)
    front: dict[str, Any] = parts.front.value
    if "schemaVersion" in front and type(front["schemaVersion"]) is int and front["schemaVersion"] != SCHEMA_VERSION:
        problems.append(
            Problem(
                "unsupported-version",
                Place(("schemaVersion",)),
                f"schemaVersion is {front['schemaVersion']}; only {SCHEMA_VERSION} is understood, so nothing else of this record is judged",
            )
        )
        return values.Record(version=front["schemaVersion"], allowed=allowed)
    problems += [
        Problem("repeated-field", span, f"{name} stands twice in the frontmatter; the last one counts", name)
        for name, span in parts.front.repeated
    ]
    refused = problems_of(adapter(formats.Record), front, record_rule)
    problems += [polish(problem, front) for _, problem in refused]
    if isinstance(front.get("anchors"), list) and not front["anchors"]:
        problems.append(
            Problem("no-anchor", Place(("anchors",)), "anchors is empty; the first anchor is what the record is about")
        )
    summary, detail = (section_text(found, name, problems) for name in SECTIONS)
    return values.Record(
        id=taken(front, "id", str, "", refused),
        kind=taken(front, "kind", values.Kind, "", refused),
        subtype=taken(front, "subtype", values.Subtype | None, None, refused),
        anchors=anchors(front.get("anchors")),
        scope=taken(front, "scope", values.Scope, None, refused),
        created=taken(front, "createdAtOrdinal", values.Ordinal, 0, refused),
        origin=taken(front, "originClass", values.Origin, "agent-verified", refused),
        incomplete=taken(front, "evidenceIncomplete", bool, False, refused),
        summary=summary,
        detail=detail,
        allowed=allowed,
    )


def record_rule(kind: str, path: Path) -> str:
    """The rule that reports a refusal of the frontmatter's model."""
    field = path[0] if path else ""
    if kind == "extra_forbidden":
        return "stored-derived-field" if field in DERIVED_FIELDS else "unknown-field"
    if kind == "missing" and len(path) == 1:
        return "missing-field"
    if kind in ("literal_error", "union_tag_invalid"):
        return "unknown-value"
    if field == "anchors" and len(path) > 1:
        return "bad-anchor"
    if field == "scope" and kind == "missing":
        return "missing-field"
    return "wrong-type"


def polish(problem: Problem, front: dict[str, Any]) -> Problem:
    if problem.rule == "stored-derived-field":
        name = problem.at.path[0] if isinstance(problem.at, Place) else "it"
        return problem._replace(message=f"{name} is worked out from the log each time and is never stored", value=name)
    if problem.rule == "unknown-field" and isinstance(problem.at, Place):
        return problem._replace(value=problem.at.path[-1])
    if problem.rule == "missing-field" and isinstance(problem.at, Place):
        return problem._replace(value=problem.at.path[-1])
    if problem.rule == "bad-anchor" and isinstance(problem.at, Place) and problem.message.endswith("is missing"):
        target: Any = front
        for step in problem.at.path[:-1]:
            target = target[step]
        fields = ANCHOR_FIELDS.get(str((object_of(target) or {}).get("t")), ())
        if fields:
            return problem._replace(message=f"{problem.message}; an anchor of this type has {listing(fields)}")
    return problem


def listing(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1]


def taken(front: dict[str, Any], name: str, wanted: Any, otherwise: Any, refused: list[tuple[Path, Problem]]) -> Any:
    if name not in front or any(path[:1] == (name,) for path, _ in refused):
        return otherwise
    try:
        return msgspec.convert(front[name], wanted)
    except (msgspec.ValidationError, RecursionError):
        return otherwise


def anchors(value: Any) -> tuple[values.Anchor, ...]:
    """The anchors that can be read, up to the first that cannot: the main one must not be another than it was."""
    found: list[values.Anchor] = []
    for item in list_of(value) or ():
        try:
            found.append(msgspec.convert(item, values.Anchor))
        except (msgspec.ValidationError, RecursionError):
            break
    return tuple(found)


def section_text(found: File, name: str, problems: list[Problem]) -> str:
    section = found.layout.section(name)
    if not section:
        problems.append(Problem("missing-section", Place(("---",)), f"the body has no `## {name}` section", name))
        # Shown on one line, not on the whole frontmatter.
        problems[-1] = problems[-1]._replace(at=found.layout.closing)
        return ""
    text = found.source[section.text].replace("\r\n", "\n")
    if not text.strip():
        problems.append(Problem("blank-section", section.heading, f"`## {name}` is blank", name))
    return text


# lines of JSON --------------------------------------------------------------------------------------------------------


def each_line(
    found: File, decoder: msgspec.json.Decoder[T], rule: str, problems: list[Problem]
) -> Iterable[tuple[int, T | None, Node | None]]:
    """Every line that is a JSON object, by number: its value where it is accepted, else its tree; the others are problems.

    Blank lines are passed over. After `MAX_WRONG_LINES` a line is read only where it is accepted.
    """
    string = found.source.string
    ends = [*found.source.line_starts[1:], len(string)]
    last = len(ends) - 1
    start = wrong = 0
    for line, end in enumerate(ends):
        text, start = string[start:end], end
        if not text or text.isspace():
            continue
        try:
            yield line, decoder.decode(text), None
            continue
        except (msgspec.MsgspecError, ValueError, RecursionError):
            wrong += 1
        if wrong > MAX_WRONG_LINES:
            continue
        span = found.source.line_span(line)
        try:
            node = json_tree(string, span.start, span.end)
        except Unreadable as error:
            if line == last and found.name == "evidence/outcomes.jsonl":
                message = "the last line was cut short while it was written; it is ignored, and the next append completes the file"
                problems.append(Problem("torn-line", span, message))
            else:
                at = Span(error.offset, max(error.offset, min(error.offset + 1, span.end)))
                problems.append(Problem(rule, at, f"not a JSON object: {error.message}"))
            continue
        if not isinstance(node.value, dict):
            problems.append(Problem(rule, span, f"a line holds one JSON object; this is {name_of(node.value)}"))
            continue
        yield line, None, node


def log(found: File, problems: list[Problem]) -> Log:
    events: list[values.Event] = []
    numbers: list[int] = []
    identities: list[str] = []

    def keep(line: int, event: values.Event) -> None:
        events.append(event)
        numbers.append(line)
        identities.append(event.id or identity(found.source.line_text(line).encode("utf-8", "surrogateescape")))

    for line, accepted, node in each_line(found, values.EVENT, "unreadable-event", problems):
        if accepted and (accepted.type not in TAKERS or getattr(accepted, TAKERS[accepted.type]) not in (None, "")):
            keep(line, accepted)
            continue
        node = node or found.line_tree(line)
        if node is None:
            continue
        value: dict[str, Any] = node.value
        targets = TAKERS.get(str(value.get("type")))
        refused = problems_of(adapter(formats.Event), value, event_rule)
        if targets and not targets_known(value, targets):
            refused = [item for item in refused if item[0][:1] != (targets,)]
            problems.append(
                Problem(
                    "unclear-retraction",
                    Place((line, targets if targets in value else "type")),
                    f"this {value['type']} event names no event in `{targets}`, so it has no effect",
                )
            )
        for _, problem in refused:
            place: At = problem.at
            if isinstance(place, Place):
                place = Place((line, *place.path), place.part)
            wrong = value.get("type") if problem.rule == "unknown-event-type" else problem.value
            problems.append(problem._replace(at=place, value=wrong))
        event = salvage(
            values.Event,
            {**value, **({targets: None} if targets and not targets_known(value, targets) else {})},
            refused,
        )
        if event:
            keep(line, event)
    return Log(tuple(events), tuple(numbers), tuple(identities))


# Events that take others back, and the field in which they name them.
TAKERS = {"retracted": "retracts", "overturned": "overturns"}


def targets_known(value: dict[str, Any], name: str) -> bool:
    wanted = tuple[str, ...] if name == "retracts" else str
    try:
        msgspec.convert(value.get(name), wanted)
    except msgspec.ValidationError:
        return False
    return bool(value.get(name)) or name == "retracts"


def event_rule(kind: str, path: Path) -> str:
    return "unknown-event-type" if path == ("type",) and kind == "literal_error" else "bad-event-field"


def json_lines(model: type[BaseModel], wanted: type[T]) -> Callable[[File, list[Problem]], Any]:
    decoder = msgspec.json.Decoder(wanted)

    def read(found: File, problems: list[Problem]) -> tuple[Any, ...]:
        kept: list[Any] = []
        for line, value, node in each_line(found, decoder, "bad-json", problems):
            if node:
                refused = problems_of(adapter(model), node.value, lambda _kind, _path: "bad-value")
                problems.extend(
                    problem._replace(at=Place((line, *problem.at.path), problem.at.part))
                    for _, problem in refused
                    if isinstance(problem.at, Place)
                )
                value = salvage(wanted, node.value, refused)
            if value is not None:
                kept.append(value)
        return tuple(kept)

    return read


# JSON documents -------------------------------------------------------------------------------------------------------


def tree_of(found: File, problems: list[Problem]) -> Node | None:
    try:
        return json_tree(found.source.string)
    except Unreadable as error:
        end = min(error.offset + 1, len(found.source))
        problems.append(Problem("bad-json", Span(min(error.offset, end), end), f"not JSON: {error.message}"))
        return None


def json_document(model: type[BaseModel], wanted: type[msgspec.Struct]) -> Callable[[File, list[Problem]], Any]:
    def read(found: File, problems: list[Problem]) -> Any:
        node = tree_of(found, problems)
        if node is None:
            return None
        value = object_of(node.value)
        if value is None:
            problems.append(
                Problem("bad-value", node.span, f"the file holds one JSON object; this is {name_of(node.value)}")
            )
            return None
        refused = problems_of(adapter(model), value, lambda _kind, _path: "bad-value")
        problems.extend(problem for _, problem in refused)
        return salvage(wanted, value, refused)

    return read


def are_by_type(value: dict[str, Any]) -> bool:
    """Whether an object is one of type to list of targets: nothing but lists, or a list under a type that is known."""
    lists = {name for name, item in value.items() if isinstance(item, list)}
    return len(lists) == len(value) or not lists.isdisjoint(RELATIONS)


def relations(found: File, problems: list[Problem]) -> RelationList:
    """The three shapes that are read: `{"relations": [...]}`, a bare list, and an object of type to targets."""
    node = tree_of(found, problems)
    if node is None:
        return RelationList()
    items: list[tuple[Path, Any]] = []
    value = object_of(node.value)
    bare = list_of(node.value)
    if value is not None and (listed := list_of(value.get("relations"))) is not None:
        items = [(("relations", index), item) for index, item in enumerate(listed)]
    elif bare is not None:
        items = [((index,), item) for index, item in enumerate(bare)]
    elif value is not None and "relations" not in value and are_by_type(value):
        for kind, targets in value.items():
            # Any other key is the writer's own, such as a version.
            for index, target in enumerate(list_of(targets) or ()):
                known = object_of(target)
                items.append(
                    ((kind, index), {"type": kind, "target": target} if known is None else {"type": kind, **known})
                )
    else:
        problems.append(
            Problem(
                "bad-relation",
                node.span,
                'the file holds {"relations": [...]}, a list of relations, or an object of type to targets',
            )
        )
        return RelationList()
    kept: list[values.Relation] = []
    paths: list[Path] = []
    for path, item in items:
        refused = problems_of(adapter(formats.Relation), item, lambda _kind, _path: "bad-relation")
        problems.extend(
            problem._replace(at=Place((*path, *problem.at.path)) if isinstance(problem.at, Place) else problem.at)
            for _, problem in refused
        )
        members = object_of(item)
        relation = salvage(values.Relation, members, refused) if members is not None else None
        if relation:
            kept.append(relation)
            paths.append(path)
    return RelationList(tuple(kept), tuple(paths))


def manifest(found: File, problems: list[Problem]) -> values.Manifest | None:
    """The shapes that are read (contract, section 8); None, with one problem, where it is of another."""
    node = tree_of(found, problems)
    if node is None:
        return None
    value = object_of(node.value) or {}
    files: Any = value.get("files")
    listed = [object_of(item) for item in list_of(files) or ()]
    if isinstance(files, list) and all(item is not None and isinstance(item.get("path"), str) for item in listed):
        files = {
            item["path"]: {name: part for name, part in item.items() if name in ("hash", "size")}
            if "hash" in item
            else item.get("sha256")
            for item in listed
            if item is not None
        }
    named = object_of(files)
    if named is not None:
        files = {name: {"hash": item} if isinstance(item, str) else item for name, item in named.items()}
    refused = problems_of(adapter(formats.Manifest), {**value, "files": files}, lambda _kind, _path: "bad-value")
    strange = "files" not in value or any(path[:1] == ("files",) for path, _ in refused)
    known = None if strange else salvage(values.Manifest, {**value, "files": files}, refused)
    if known is None:
        wrong = wrong_entries(named, refused) if object_of(value.get("files")) is not None else []
        problems.extend(wrong)
        if wrong:
            return None
        at = Place(("files",)) if "files" in node.members else node.span
        message = "the manifest is of a shape that is not known, so nothing can be said of the bundle's integrity"
        problems.append(Problem("bad-value", at, message, "manifest"))
        return None
    problems.extend(problem for _, problem in refused)
    return known


def wrong_entries(files: dict[str, Any] | None, refused: list[tuple[Path, Problem]]) -> list[Problem]:
    """What is wrong with single entries; none where no entry is right, since then the shape is another."""
    wrong: dict[Path, Problem] = {}
    for path, problem in sorted(refused, key=lambda item: len(item[0])):  # of two branches the one that looked inside
        if path[:1] == ("files",) and len(path) > 1:
            wrong[path[:2]] = problem
    return list(wrong.values()) if files and len(wrong) < len(files) else []


def text(found: File, problems: list[Problem]) -> None:
    """Never parsed."""


READERS: dict[str, Callable[[File, list[Problem]], Any]] = {
    "record.md": record,
    "evidence/outcomes.jsonl": log,
    "provenance.json": json_document(formats.Provenance, values.Provenance),
    "manifest.json": manifest,
    "observations.jsonl": json_lines(formats.Observation, values.Observation),
    "relations.json": relations,
    "evidence/evidence.md": text,
    "evidence/gates.jsonl": json_lines(formats.Gate, values.Gate),
    "evidence/measurements.json": json_document(formats.Measurement, values.Measurement),
    "artifacts.index.json": json_document(formats.Artifacts, values.Artifacts),
    "runs.jsonl": json_lines(formats.Run, values.Run),
}
