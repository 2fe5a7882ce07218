"""What can be written at a cursor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cursor import Scene, free_text, scene

from memidex.editor.completion import Completion, Completions, completions, resolved
from memidex.editor.view import View
from memidex.text import Edit, apply


def labels(found: Completions) -> list[str]:
    return [item.label for item in found.items]


def written(view: View, completion: Completion) -> str:
    return apply(view.source.string, [Edit(completion.span, completion.text)])


def line_after(here: Scene, label: str) -> str:
    """The cursor's line after the completion of this label was taken."""
    item = next(item for item in completions(here.view, here.offset).items if label in (item.label, item.text))
    number = here.view.source.line_of(here.offset)
    return written(here.view, item).split("\n")[number]


# Frontmatter ----------------------------------------------------------------------------------------------------------


def test_missing_fields_are_offered_and_those_that_are_there_are_not(tmp_path: Path) -> None:
    here = scene("-- record.md --\n- originClass\n- scope\nk‸: 1", tmp_path)
    found = completions(here.view, here.offset)
    assert labels(found) == ["scope", "originClass"]


def test_a_half_typed_field_is_replaced_and_starts_with_what_can_be_known(tmp_path: Path) -> None:
    here = scene("-- record.md --\n- scope\nsc‸", tmp_path)
    assert line_after(here, "scope") == 'scope: {"tier":"product","key":"shop"}'


def test_the_key_under_the_cursor_is_replaced_alone_where_a_value_follows(tmp_path: Path) -> None:
    here = scene('-- record.md --\n- kind\nki‸nf: "fact"', tmp_path)
    assert line_after(here, "kind") == 'kind: "fact"'


@pytest.mark.parametrize(
    ("line", "label", "after"),
    [
        ("kind: ‸", "caution", 'kind: "caution"'),
        ('kind: "ca‸"', "caution", 'kind: "caution"'),
        ('kind: "‸fact"', "policy", 'kind: "policy"'),
        ('kind: "f‸', "fact", 'kind: "fact"'),
        ("subtype: ‸", "selector", 'subtype: "selector"'),
        ("originClass: us‸", "user", 'originClass: "user"'),
        ("evidenceIncomplete: ‸", "false", "evidenceIncomplete: false"),
        ("createdAtOrdinal: ‸", "3", "createdAtOrdinal: 3"),
        ("scope: ‸", "global", 'scope: {"tier":"global"}'),
        ('scope: {"tier":"‸","key":"x"}', "suite", 'scope: {"tier":"suite","key":"x"}'),
        ('scope: {"tier":"product","key":"‸"}', "shop", 'scope: {"tier":"product","key":"shop"}'),
        ('anchors: [{"raw":{"t":"‸"}}]', "flow", 'anchors: [{"raw":{"t":"flow"}}]'),
        ('anchors: [{"raw":‸}]', "page", 'anchors: [{"raw":{"t":"page","url":"url"}}]'),
        (
            'anchors: [{"raw":{"t":"platform","platform":"‸"}}]',
            "android",
            'anchors: [{"raw":{"t":"platform","platform":"android"}}]',
        ),
    ],
)
def test_values_replace_what_stands_there(tmp_path: Path, line: str, label: str, after: str) -> None:
    assert line_after(scene(f"-- record.md --\n{line}", tmp_path), label) == after


@pytest.mark.parametrize("line", ["anchors: ‸", "anchors: [‸]", "anchors: [‸"])
def test_anchor_shapes_are_whole_anchors(tmp_path: Path, line: str) -> None:
    here = scene(f"-- record.md --\n{line}", tmp_path)
    text = line_after(here, "el").removeprefix("anchors: ")
    value = json.loads(text if text.endswith("]") else text + "]")
    assert value == [
        {
            "raw": {"t": "el", "role": "role", "name": "name", "ordinal": 0},
            "normalized": {"t": "el", "role": "role", "name": "name", "ordinal": 0},
        }
    ]


def test_anchor_shapes_are_snippets_for_a_client_that_takes_them(tmp_path: Path) -> None:
    here = scene("-- record.md --\nanchors: [‸]", tmp_path)
    item = completions(here.view, here.offset, "snippet").items[0]
    assert item.format == "snippet"
    assert "${1:" in item.text


def test_nothing_is_offered_in_a_summary(tmp_path: Path) -> None:
    here = scene("-- record.md --\n## Summary\n\nki‸\n\n## Detail\n\nd", tmp_path)
    assert completions(here.view, here.offset).items == ()


# Relations and events -------------------------------------------------------------------------------------------------

OTHERS = "\n-- b/record.md --\n## Summary\n\nthe invoice can be paid\n\n## Detail\n\nd\n-- c/record.md --\n## Summary\n\nthe cart is empty\n\n## Detail\n\nd"


def test_relation_types_are_offered(tmp_path: Path) -> None:
    here = scene('-- relations.json --\n{"relations":[{"type":"sup‸"}]}', tmp_path)
    assert line_after(here, "superseded-by") == '{"relations":[{"type":"superseded-by"}]}'


@pytest.mark.parametrize(
    "text", ['{"relations":[{"type":"relates-to","target":"invoice pai‸d"}]}', '{"relates-to":["invoice pai‸"]}']
)
def test_targets_are_found_by_fuzzy_text_and_resolved_to_a_card(tmp_path: Path, text: str) -> None:
    here = scene(f"-- relations.json --\n{text}{OTHERS}", tmp_path)
    found = completions(here.view, here.offset)
    first = found.items[0]
    assert found.incomplete
    assert first.filter.startswith('"invoice pai')
    assert first.record == (here.root.path, here.drawn.ids["b"])
    assert json.loads(written(here.view, first)) in (
        {"relations": [{"type": "relates-to", "target": here.drawn.ids["b"]}]},
        {"relates-to": [here.drawn.ids["b"]]},
    )
    assert first.documentation == ""
    assert "the invoice can be paid" in resolved(here.view.snapshot, first).documentation


def test_a_record_is_never_offered_as_its_own_target(tmp_path: Path) -> None:
    here = scene(f'-- relations.json --\n{{"relations":[{{"type":"relates-to","target":"‸"}}]}}{OTHERS}', tmp_path)
    assert all(
        item.record != (here.root.path, here.drawn.ids["a"]) for item in completions(here.view, here.offset).items
    )


@pytest.mark.parametrize(
    "text", ['{"relations":[‸]}', '{"relations":[{"type":"relates-to","target":"x"},‸]}', "[\n  ‸\n]"]
)
def test_a_whole_relation_is_offered_where_one_can_stand(tmp_path: Path, text: str) -> None:
    here = scene(f"-- relations.json --\n{text}", tmp_path)
    assert labels(completions(here.view, here.offset)) == ["relation"]


def test_event_types_origins_and_reasons_are_offered(tmp_path: Path) -> None:
    for text, label in (
        ('{"type":"wind‸"}', "window-close"),
        ('{"origin":‸', "user"),
        ('{"reason":"‸"}', "forgotten"),
        ('{"path":"‸"}', "gate1+gate2"),
    ):
        here = scene(f"-- a/evidence/outcomes.jsonl + --\n{text}", tmp_path / label)
        assert f'"{label}"' in line_after(here, label)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"retracted","retracts":["‸"]}',
        '{"type":"retracted","retracts":["x","‸"]}',
        '{"type":"overturned","overturns":"‸"}',
    ],
)
def test_events_that_can_be_taken_back_are_offered_newest_first(tmp_path: Path, text: str) -> None:
    here = scene(f"-- a/evidence/outcomes.jsonl + --\n{text}", tmp_path)
    assert labels(completions(here.view, here.offset)) == ["a-2", "a-1"]
    assert '"a-2"' in line_after(here, "a-2")


# Any text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("see MEM-‸", "see MEM-001"),
        ("see mem-1‸", "see MEM-001"),
        ("see MEM-00‸", "see MEM-001"),
        ("see agentqa:‸", "see agentqa://memory/MEM-001"),
        ("see agentqa://mem‸", "see agentqa://memory/MEM-001"),
        ("see agentqa://memory/MEM-‸", "see agentqa://memory/MEM-001"),
        ("see agentqa://memory/butt‸", "see agentqa://memory/MEM-001"),
    ],
)
def test_addresses_are_offered_in_any_text(tmp_path: Path, text: str, after: str) -> None:
    view, offset = free_text(scene("-- record.md --", tmp_path, ("a",)), text)
    found = completions(view, offset)
    assert [written(view, item) for item in found.items] == [after]
    assert view.source[found.items[0].span] == found.items[0].filter


@pytest.mark.parametrize("text", ["see agentqa:‸", "see agentqa://mem‸", "see agentqa://memory/‸"])
def test_a_record_without_a_short_id_is_offered_by_its_own(tmp_path: Path, text: str) -> None:
    here = scene("-- record.md --", tmp_path)
    view, offset = free_text(here, text)
    (item,) = completions(view, offset).items
    assert written(view, item) == f"see agentqa://memory/{here.drawn.ids['a']}"
    assert view.source[item.span] == item.filter


def test_rules_are_offered_where_one_is_allowed(tmp_path: Path) -> None:
    for text in ("<!-- memidex: allow ‸ -->", "<!-- memidex: allow unknown-value, rule-cr‸ -->"):
        view, offset = free_text(scene("-- record.md --", tmp_path / str(len(text))), text)
        item = next(item for item in completions(view, offset).items if item.label == "rule-crashed")
        assert "rule-crashed -->" in written(view, item)


def test_ordinary_text_has_no_completions(tmp_path: Path) -> None:
    for text in ("an ordinary sentence‸", "SOMEMEM-‸", "http://agentqa‸"):
        view, offset = free_text(scene("-- record.md --", tmp_path / str(len(text)), ("a",)), text)
        assert completions(view, offset).items == ()
