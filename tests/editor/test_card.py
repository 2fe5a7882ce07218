"""The card says what surfaces.md section 1 promises, now and as of a build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cursor import scene

from memidex.editor.card import card, row

KEYS = [
    "id", "shortId", "uri", "format", "kind", "subtype", "scope", "status", "trust", "servedTrust", "unconfirmedSince",
    "counts", "origin", "validFrom", "validTo", "anchors", "summary", "detail", "relations", "integrity", "servable",
    "heldReason", "events", "path",
]  # fmt: skip
MORE = """
-- a/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"confirmed","id":"a-3"}
{"buildOrdinal":3,"origin":"user","type":"superseded","id":"a-4","by":"@b"}
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b","atOrdinal":3},{"type":"relates-to","target":"fact-el-gone-0123456789abcdef"}]}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a","atOrdinal":3}]}
-- b/record.md --
createdAtOrdinal: 3
"""


def test_a_card_has_the_promised_keys_in_their_order_and_is_json(tmp_path: Path) -> None:
    here = scene("-- record.md --", tmp_path)
    found = card(here.root, here.entry())
    assert found is not None
    assert list(found) == KEYS
    assert json.loads(json.dumps(found)) == found


def test_a_healthy_fact_with_one_confirmation_has_three_quarters(tmp_path: Path) -> None:
    here = scene("-- record.md --", tmp_path, ("a",))
    found = card(here.root, here.entry())
    assert found is not None
    assert (found["trust"], found["status"], found["servable"], found["heldReason"]) == (0.75, "active", True, None)
    assert (found["shortId"], found["uri"]) == ("MEM-001", "agentqa://memory/MEM-001")
    assert found["scope"] == {"tier": "product", "key": "shop"}
    assert found["anchors"][0]["raw"] == {"t": "el", "role": "button", "name": "a", "ordinal": 0}
    assert [(event["line"], event["type"], event["live"]) for event in found["events"]] == [
        (1, "confirmed", True),
        (2, "promoted", True),
    ]
    assert found["integrity"] == "sealed"


def test_a_record_without_a_short_id_is_addressed_by_its_own(tmp_path: Path) -> None:
    here = scene("-- record.md --", tmp_path)
    found = card(here.root, here.entry())
    assert found is not None
    assert found["uri"] == f"agentqa://memory/{here.drawn.ids['a']}"


def test_relations_are_told_from_both_sides_with_the_other_records_status(tmp_path: Path) -> None:
    here = scene(MORE, tmp_path)
    found = card(here.root, here.entry())
    assert found is not None
    b = here.drawn.ids["b"]
    assert found["relations"] == [
        {"type": "superseded-by", "target": b, "direction": "out", "status": "active"},
        {"type": "relates-to", "target": "fact-el-gone-0123456789abcdef", "direction": "out", "status": None},
        {"type": "supersedes", "target": b, "direction": "in", "status": "active"},
    ]
    assert (found["status"], found["validTo"], found["servable"]) == ("superseded", 3, False)


def test_as_of_a_build_the_card_knows_nothing_later(tmp_path: Path) -> None:
    here = scene(MORE, tmp_path)
    then = card(here.root, here.entry(), 2)
    assert then is not None
    assert (then["status"], then["validTo"], then["trust"]) == ("active", None, 0.8)
    assert [event["id"] for event in then["events"]] == ["a-1", "a-2", "a-3"]
    assert [relation["type"] for relation in then["relations"]] == ["relates-to"]
    assert card(here.root, here.entry("b"), 2) is None


@pytest.mark.parametrize("as_of", [None, 1, 2, 3])
def test_a_row_is_the_card_without_detail_and_events(tmp_path: Path, as_of: int | None) -> None:
    here = scene(MORE, tmp_path)
    whole = card(here.root, here.entry(), as_of)
    assert whole is not None
    assert row(here.root, here.entry(), as_of) == {
        name: value for name, value in whole.items() if name not in ("detail", "events")
    }
