"""Values and texts of every format, drawn from the models through their schemas, and the ways in which they go wrong."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from memidex.records.memidex import formats
from tools.make_schemas import schema

# The file of each format, and whether it holds one value or one a line.
FILES = {
    "event": "evidence/outcomes.jsonl",
    "relations": "relations.json",
    "manifest": "manifest.json",
    "provenance": "provenance.json",
    "observation": "observations.jsonl",
    "measurement": "evidence/measurements.json",
    "gate": "evidence/gates.jsonl",
    "artifacts-index": "artifacts.index.json",
    "run": "runs.jsonl",
}
ALL_FILES = ("record.md", *FILES.values(), "evidence/evidence.md")

CHARACTERS = st.characters(exclude_categories=("Cs",))
TEXT = st.one_of(
    st.sampled_from(
        [
            "",
            "x",
            "checkout",
            "a b",
            "é",
            "日本",
            "😀",
            "\u2028",
            "\x85",
            "\x7f",
            "\0",
            "\t",
            "null",
            "## Detail",
            "memidex:",
        ]
    ),
    st.text(CHARACTERS, max_size=20),
)
KEY = st.sampled_from(["extra", "Ünïcode", "trust", "", "a b", "kind2"])
INSTANTS = st.datetimes(min_value=None, timezones=st.sampled_from([__import__("datetime").UTC])).map(
    lambda at: at.isoformat().replace("+00:00", "Z")
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)


def of(part: dict[str, Any], whole: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema accepts."""
    if "$ref" in part:
        return of(whole["$defs"][part["$ref"].rpartition("/")[2]], whole)
    if "const" in part:
        return st.just(part["const"])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in part:
            return st.one_of(*(of(item, whole) for item in part[choice]))
    match part.get("type"):
        case "object":
            return objects(part, whole)
        case "array":
            return st.lists(of(part["items"], whole), min_size=part.get("minItems", 0), max_size=3)
        case "integer":
            return st.integers(
                part.get("minimum"), part["exclusiveMaximum"] - 1 if "exclusiveMaximum" in part else None
            )
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "string" if "pattern" in part:
            return HASHES
        case "string" if part.get("format") == "date-time":
            return INSTANTS
        case "string":
            return TEXT
        case _:
            return ANYTHING


def objects(part: dict[str, Any], whole: dict[str, Any]) -> st.SearchStrategy[Any]:
    needed = part.get("required", [])
    known = {name: of(item, whole) for name, item in part.get("properties", {}).items()}
    more = part.get("additionalProperties")
    others = (
        st.dictionaries(KEY, of(more, whole) if isinstance(more, dict) else ANYTHING, max_size=2)
        if more
        else st.just({})
    )
    fixed = st.fixed_dictionaries(
        {name: known[name] for name in needed},
        optional={name: item for name, item in known.items() if name not in needed},
    )
    return st.tuples(others, fixed).map(lambda both: {**both[0], **both[1]})


VALID = {name: of(schema(name), schema(name)) for name in formats.SCHEMAS}


def written(value: Any, *, pretty: bool, ascii_only: bool) -> str:
    return json.dumps(
        value, ensure_ascii=ascii_only, indent=2 if pretty else None, separators=None if pretty else (",", ":")
    )


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """A value with one part of it replaced, taken away or added."""
    place = draw(st.sampled_from(list(places(value))))
    return changed(
        value,
        place,
        draw(st.one_of(ANYTHING, st.just(...), st.sampled_from([-1, 2**53, 2**64, 10**400, 1.5, True, "1", []]))),
    )


def places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return {} if new is ... else new
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        if not rest and new is ...:
            return {key: item for key, item in value.items() if key != head}
        return {key: changed(item, rest, new) if key == head else item for key, item in value.items()}
    if not rest and new is ...:
        return [item for index, item in enumerate(value) if index != head]
    return [changed(item, rest, new) if index == head else item for index, item in enumerate(value)]


@st.composite
def texts(draw: st.DrawFn, name: str, *, wrong: bool) -> bytes:
    """The bytes of a file of a format; with `wrong` some of its values are not what the model accepts."""
    one = st.one_of(VALID[name], VALID[name].flatmap(mutated)) if wrong else VALID[name]
    ascii_only = draw(st.booleans())
    if not FILES[name].endswith(".jsonl"):
        return (
            written(draw(one), pretty=draw(st.booleans()), ascii_only=ascii_only) + draw(st.sampled_from(["", "\n"]))
        ).encode()
    lines = [written(value, pretty=False, ascii_only=ascii_only) for value in draw(st.lists(one, max_size=4))]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return "".join(line + end for line in lines).encode()


FIELDS = (
    "schemaVersion",
    "id",
    "kind",
    "subtype",
    "anchors",
    "scope",
    "createdAtOrdinal",
    "originClass",
    "evidenceIncomplete",
)
BODY = st.text(CHARACTERS, min_size=1, max_size=60)


@st.composite
def records(draw: st.DrawFn, *, wrong: bool) -> bytes:
    """The bytes of a `record.md`."""
    value = draw(VALID["record"])
    value["schemaVersion"] = 2
    if wrong:
        value = draw(mutated(value))
    if not isinstance(value, dict):
        value = {"id": value}
    front = "".join(
        f"{key}: {written(item, pretty=False, ascii_only=draw(st.booleans()))}\n" for key, item in value.items()
    )
    text = f"---\n{front}---\n\n## Summary\n\n{draw(BODY)}\n\n## Detail\n\n{draw(BODY)}\n"
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"]))).encode()


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes with a few places cut, doubled, or written over."""
    out = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(out)))
        length = draw(st.integers(0, 8))
        out[at : at + length] = draw(
            st.one_of(
                st.sampled_from(
                    [b"", b"\r", b"\n", b"\n\n", b" ", b"\0", b'"', b"{", b"}", b"[", b",", b":", b"\\", b"\\ud800", b"\xff", b"\xef\xbb\xbf",
                     b"---\n", b"## ", b"\n##\tx\n", b"```\n", b"1e999", b"NaN", b"null", b"<<<<<<< a\n", b"=======\n", b">>>>>>> b\n", b"&a", b"*a", b"\t"]
                ),
                st.binary(max_size=4),
                st.just(bytes(out[at : at + 40])),
            )
        )  # fmt: skip
    return bytes(out)
