"""Merges of bytes: nothing that either side says is lost, a side that changed nothing has no say, and no bytes are too odd."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.history import standing as standings
from memidex.records.memidex import bundle as bundles
from memidex.records.memidex import render, values
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.merge import (
    KINDS,
    LINES,
    LOG,
    MANIFEST,
    RELATIONS,
    Sides,
    lines,
    marked,
    merge,
    resolve,
    settled,
)
from memidex.records.memidex.read import parse

NAMES = st.sampled_from(KINDS)
PIECES = st.sampled_from(
    [
        b'{"buildOrdinal":1,"origin":"user","type":"confirmed","id":"a"}', b'{"id":"a"}', b'{"relations":[', b"]}", b"[", b"{",
        b"\n", b"\r\n", b"\xff", b"\xef\xbb\xbf", b'{"type":"relates-to","target":"x"}', b",", b'{"files":{"relations.json":"ab"}}',
        b"<<<<<<< HEAD\n", b"||||||| base\n", b"=======\n", b">>>>>>> other\n", b'"supersedes":["a"]', b"null", b"[[[[[[",
    ]
)  # fmt: skip
BYTES = st.one_of(st.lists(PIECES, max_size=8).map(b"".join), st.binary(max_size=40))


@given(NAMES, BYTES | st.none(), BYTES, BYTES)
def test_any_bytes_are_merged_or_left_to_a_person(name: str, base: bytes | None, ours: bytes, theirs: bytes) -> None:
    others = {RELATIONS: Sides(ours, theirs, base), LOG: Sides(theirs, None, ours)}
    found = merge(name, base, ours, theirs, others)
    if found is not None and name in LINES and base not in (ours, theirs):
        for side in (ours, theirs):
            assert set(parse(LOG, side).value.identities) <= set(parse(LOG, found).value.identities)


@given(st.dictionaries(NAMES, BYTES))
def test_any_bytes_with_markers_are_settled_or_left_to_a_person(files: dict[str, bytes]) -> None:
    found = settled(files)
    assert found.keys() <= {name for name, data in files.items() if marked(data)}
    assert not any(marked(data) for data in found.values())
    for name in found:
        if name != MANIFEST:
            assert resolve(name, files, {}) == found[name]


@given(NAMES, BYTES, BYTES)
def test_a_side_that_changed_nothing_has_no_say(name: str, base: bytes, changed: bytes) -> None:
    assert merge(name, base, base, changed) == changed
    assert merge(name, base, changed, base) == changed
    assert merge(name, base, changed, changed) == changed


# Lines ----------------------------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.builds(
        lambda number, kind, ordinal: render.line_of(
            {"buildOrdinal": ordinal, "origin": "user", "type": kind, "id": f"e{number}-{kind}-{ordinal}"}
        ),
        st.integers(0, 30),
        st.sampled_from(["confirmed", "contradicted", "promoted", "deprecated", "window-close", "helpful"]),
        st.integers(1, 4),
    ),
    max_size=6,
    unique=True,
)


def log(rows: list[str], end: str = "\n") -> bytes:
    return "".join(row + end for row in rows).encode()


@given(EVENTS, EVENTS, EVENTS, st.sampled_from(["\n", "\r\n"]))
def test_a_log_has_the_events_of_both_sides_once_and_one_standing(
    base: list[str], ours: list[str], theirs: list[str], end: str
) -> None:
    mine, other = log([*base, *ours], end), log([*base, *theirs])
    one, two = lines(mine, other), lines(other, mine)
    assert one.startswith(mine)
    assert set(parse(LOG, one).value.identities) == set(parse(LOG, mine + other).value.identities)
    added = parse(LOG, one[len(mine) :]).value.identities
    assert len(added) == len(set(added))
    assert end == "\n" or not mine or not one.replace(b"\r\n", b"").count(b"\n")
    assert lines(one, other) == one
    assert standing(one) == standing(two)


def standing(data: bytes) -> Any:
    return standings.standing(values.Record(kind="fact", subtype="selector"), parse(LOG, data).value)


def test_an_event_written_in_another_order_is_the_same_and_a_torn_line_is_completed_by_the_other_side() -> None:
    ours = b'{"id":"a","type":"confirmed","buildOrdinal":1,"origin":"user"}\n{"id":"b"}\n'
    assert lines(ours, b'{"type":"confirmed","id":"a","buildOrdinal":1,"origin":"user"}\n{"id":"b') == ours
    assert lines(b'{"id":"b', b'{"id":"a"}\n') == b'{"id":"b\n{"id":"a"}\n'
    assert lines(b'{"id":"a"}\n', b'{"id":"c') == b'{"id":"a"}\n{"id":"c'
    assert lines(b"", b'{"id":"a"}') == b'{"id":"a"}\n'


# Relations ------------------------------------------------------------------------------------------------------------


def relation(target: str, **more: Any) -> dict[str, Any]:
    return {"type": "relates-to", "target": target, **more}


TARGETS = st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True)
SHAPES = st.sampled_from(["object", "list", "types"])


def document(targets: list[str], shape: str = "object", extra: str = "") -> bytes:
    if shape == "types":
        return json.dumps({"relates-to": targets}).encode()
    items = [relation(target, **({"x": extra} if extra else {})) for target in targets]
    return (json.dumps({"relations": items, "by": "tool"}, indent=2) if shape == "object" else json.dumps(items)).encode()  # fmt: skip


def targets(data: bytes) -> list[str]:
    return [item.target for item in parse(RELATIONS, data).value.relations]


@given(TARGETS, TARGETS, TARGETS, SHAPES)
def test_relations_are_those_that_either_side_added_without_those_that_either_took_away(
    base: list[str], ours: list[str], theirs: list[str], shape: str
) -> None:
    wanted = (set(ours) & set(theirs)) | (set(ours) - set(base)) | (set(theirs) - set(base))
    found = merge(RELATIONS, document(base, shape), document(ours, shape), document(theirs, shape))
    assert found is not None
    assert set(targets(found)) == wanted
    assert len(targets(found)) == len(wanted)
    other = merge(RELATIONS, document(base, shape), document(theirs, shape), document(ours, shape))
    assert other is not None
    assert set(targets(other)) == wanted


def test_a_relation_that_one_side_changed_stays_with_what_each_side_says_of_it() -> None:
    base = b'{"relations": [{"type": "relates-to", "target": "a", "x": 1}]}\n'
    ours = base.replace(b'"x": 1', b'"x": 2')
    assert merge(RELATIONS, base, ours, b'{"relations": []}\n') == ours
    assert merge(RELATIONS, base, b'{"relations": []}\n', ours) == ours
    theirs = base.replace(b'"x": 1', b'"x": 1, "note": "n"')
    both = merge(RELATIONS, base, ours, theirs)
    assert both is not None
    assert json.loads(both)["relations"] == [relation("a", x=2, note="n")]
    assert merge(RELATIONS, base, ours, base.replace(b'"x": 1', b'"x": 3')) is None


def test_the_layout_that_one_side_gave_stays_and_the_rest_of_the_file_is_not_touched() -> None:
    base = document(["a"])
    ours = base.replace(b'"by": "tool"', b'"by":   "me"')
    found = merge(RELATIONS, base, document(["a", "b"]), ours)
    assert found is not None
    assert b'"by":   "me"' in found
    assert targets(found) == ["a", "b"]
    assert merge(RELATIONS, None, document(["a"]), document(["b"])) == document(["a", "b"])


# Manifests ------------------------------------------------------------------------------------------------------------


def sealed(files: dict[str, bytes]) -> bytes:
    return render.manifest(bundles.seal_of(files)).encode()


def held(files: dict[str, bytes]) -> Bundle:
    return bundles.read("/r/memory/p/bundles/x", "p", files)


ROWS = [render.line_of({"buildOrdinal": n, "origin": "user", "type": "confirmed", "id": f"e{n}"}) for n in range(9)]


@given(st.integers(0, 3), st.integers(0, 3), TARGETS, TARGETS, TARGETS, st.booleans())
def test_a_manifest_seals_what_the_files_become(
    ours: int, theirs: int, before: list[str], mine: list[str], other: list[str], known: bool
) -> None:
    base = {"record.md": b"r", LOG: log(ROWS[:2]), RELATIONS: document(before)}
    one = {**base, LOG: log(ROWS[: 2 + ours]), RELATIONS: document(mine)}
    two = {**base, LOG: log([*ROWS[:2], *ROWS[6 : 6 + theirs]]), RELATIONS: document(other)}
    found: dict[str, bytes] = {"record.md": b"r"}
    for name in (LOG, RELATIONS):
        merged = merge(name, base[name], one[name], two[name])
        assert merged is not None
        found[name] = merged
    others = {name: Sides(one[name], two[name], found[name]) for name in found}
    result = merge(MANIFEST, sealed(base), sealed(one), sealed(two), others if known else {})
    if result is None:  # without the files beside it, relations that both changed cannot be sealed
        assert not known
        return
    found[MANIFEST] = result
    assert held(found).integrity in (("sealed",) if known else ("sealed", "appended"))


def test_what_was_edited_on_a_side_stays_told() -> None:
    base = {RELATIONS: document(["a"])}
    one, two = {RELATIONS: document(["a", "b"])}, {RELATIONS: document(["a", "c"])}
    by_hand = document(["a", "b"], extra="y")
    merged = merge(RELATIONS, base[RELATIONS], by_hand, two[RELATIONS])
    assert merged is not None
    others = {RELATIONS: Sides(by_hand, two[RELATIONS], merged)}
    result = merge(MANIFEST, sealed(base), sealed(one), sealed(two), others)
    assert result is not None
    assert held({RELATIONS: merged, MANIFEST: result}).integrity == "edited"


@pytest.mark.parametrize("shape", ["bare", "prefixed", "list"])
def test_a_manifest_keeps_its_shape(shape: str) -> None:
    def written(files: dict[str, bytes]) -> bytes:
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        listed: Any = {name: f"sha256:{text}" if shape == "prefixed" else text for name, text in hashes.items()}
        if shape == "list":
            listed = [{"path": name, "sha256": text} for name, text in hashes.items()]
        return json.dumps({"files": listed, "tool": "x"}, separators=(", ", ":")).encode()

    one, two, base = (document(list(names)) for names in ("ab", "ac", "a"))
    merged = merge(RELATIONS, base, one, two)
    assert merged is not None
    others = {RELATIONS: Sides(one, two, merged)}
    found = merge(MANIFEST, *(written({RELATIONS: data}) for data in (base, one, two)), others)
    assert found == written({RELATIONS: merged})
    more = merge(MANIFEST, written({}), written({RELATIONS: one}), written({"policies.md": two}), {})
    assert more is not None
    assert bundles.read("/b", "p", {MANIFEST: more, RELATIONS: one}).seals == (("policies.md", "incomplete"),)
