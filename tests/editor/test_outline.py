"""Outline, lenses, hints, folds, selections and hierarchies."""

from __future__ import annotations

from pathlib import Path

from cursor import Scene, free_text, scene

from memidex.editor.folding import folds, selections
from memidex.editor.hierarchy import derived, item_at, newer, older, sources
from memidex.editor.hints import hints
from memidex.editor.lenses import lenses
from memidex.editor.symbols import Symbol, document_symbols, workspace_symbols
from memidex.editor.tokens import tokens
from memidex.store.snapshot import Snapshot
from memidex.text import Span

LOG = """-- a/evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"e1"}
{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","id":"e2"}
{"buildOrdinal":2,"origin":"user","type":"confirmed","id":"e3"}
{"buildOrdinal":2,"origin":"user","type":"promoted","id":"e4"}
"""
FAMILY = """-- record.md --
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"},{"type":"derived-from","target":"@c"}]}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
-- c/record.md --
-- d/relations.json --
{"relations":[{"type":"proposed-supersession-of","target":"@a"},{"type":"relates-to","target":"@a"}]}
"""


def told(here: Scene, symbols: tuple[Symbol, ...] | list[Symbol]) -> list[tuple[str, str]]:
    return [(symbol.name, symbol.detail) for symbol in symbols]


def test_a_record_is_outlined_by_fields_anchors_and_sections(tmp_path: Path) -> None:
    here = scene("-- record.md --", tmp_path)
    found = document_symbols(here.view)
    assert [symbol.name for symbol in found][-2:] == ["Summary", "Detail"]
    assert ("kind", "fact") in told(here, found)
    anchors = next(symbol for symbol in found if symbol.name == "anchors")
    assert told(here, anchors.children) == [('button "a"', "main anchor"), ("web", "")]


def test_a_log_is_outlined_by_builds_and_what_each_event_did(tmp_path: Path) -> None:
    here = scene(LOG, tmp_path)
    view, _ = here.at("evidence/outcomes.jsonl")
    first, second = document_symbols(view)
    assert told(here, [first, second]) == [("build 1", "2 events"), ("build 2", "2 events")]
    assert told(here, first.children) == [("confirmed", "trust 0.75, candidate"), ("promoted", "trust 0.75, active")]
    assert second.children[1].detail.startswith("no effect: only a candidate")


def test_relations_are_outlined_with_the_titles_of_their_targets(tmp_path: Path) -> None:
    here = scene(FAMILY, tmp_path)
    view, _ = here.at("relations.json")
    assert told(here, document_symbols(view))[0] == ("superseded-by", 'button "b" resolved as a verified element')


def test_every_record_of_the_workspace_is_found_by_fuzzy_name(tmp_path: Path) -> None:
    one, two = scene(FAMILY, tmp_path / "one", ("a",)), scene("-- record.md --", tmp_path / "two")
    snapshot = Snapshot((one.root, two.root))
    assert workspace_symbols(snapshot, "MEM-1")[0].entry == one.entry()
    found = workspace_symbols(snapshot, "button c")
    assert found[0].entry == one.entry("c")
    assert found[0].container.startswith(f"{one.drawn.ids['c']} · active · trust 0.75")
    assert len(workspace_symbols(snapshot, "")) == 5
    assert len(workspace_symbols(snapshot, "button", 2)) == 2


def test_the_lenses_of_a_title_tell_standing_and_references(tmp_path: Path) -> None:
    here = scene(FAMILY, tmp_path)
    standing, references = lenses(here.view)
    assert (standing.text, standing.opens) == ("active · trust 0.75 · 1 confirmation", "card")
    assert (references.text, references.opens) == ("3 references", "references")
    assert here.view.source[standing.span] == "## Summary"
    assert lenses(here.at("relations.json")[0]) == []


def test_hints_say_what_an_id_stands_for_but_not_the_records_own(tmp_path: Path) -> None:
    here = scene(
        "-- record.md --\n## Summary\n\nlike @b\n\n## Detail\n\nd\n-- b/record.md --\n## Summary\n\nthe other\n\n## Detail\n\nd",
        tmp_path,
        ("b",),
    )
    assert [hint.text for hint in hints(here.view)] == ["the other · active"]
    view, _ = free_text(here, "MEM-1, MEM-2 and mem-001")
    assert [hint.offset for hint in hints(view)] == [5, 24]
    assert [hint.offset for hint in hints(view, Span(10, 24))] == [24]


def test_hints_of_a_log_tell_trust_after_each_event_within_the_span(tmp_path: Path) -> None:
    here = scene(LOG, tmp_path)
    view, _ = here.at("evidence/outcomes.jsonl")
    assert [hint.text for hint in hints(view)] == ["0.75", "0.75 active", "0.80", "no effect"]
    assert [hint.text for hint in hints(view, view.source.line_span(2))] == ["0.80"]


def test_frontmatter_sections_builds_and_objects_fold(tmp_path: Path) -> None:
    here = scene(
        f'{LOG}-- relations.json --\n{{\n  "relations": [\n    {{\n      "type": "x"\n    }}\n  ]\n}}', tmp_path
    )
    view, _ = here.at("record.md")
    assert [fold.kind for fold in folds(view)] == ["frontmatter", "section", "section"]
    view, _ = here.at("evidence/outcomes.jsonl")
    assert [tuple(fold) for fold in folds(view)] == [(0, 1, "build"), (2, 3, "build")]
    view, _ = here.at("relations.json")
    assert [tuple(fold) for fold in folds(view)] == [(0, 6, "object"), (1, 5, "object"), (2, 4, "object")]


def test_a_selection_grows_from_word_to_value_to_member_to_line_to_all(tmp_path: Path) -> None:
    here = scene('-- record.md --\nscope: {"tier":"pro‸duct","key":"shop"}', tmp_path)
    grown = [here.view.source[span] for span in selections(here.view, here.offset)]
    assert grown[:5] == [
        "product",
        '"product"',
        '"tier":"product"',
        '{"tier":"product","key":"shop"}',
        'scope: {"tier":"product","key":"shop"}',
    ]
    assert grown[-1] == here.view.source.string


def test_generations_and_origins_are_hierarchies(tmp_path: Path) -> None:
    here = scene(FAMILY, tmp_path)
    a, b = here.entry(), here.entry("b")
    assert [item.record for item in newer(here.root, a)] == [b.id]
    assert [item.record for item in older(here.root, b)] == [a.id]
    assert [(kind, item.record) for kind, item in sources(here.root, a)] == [("derived-from", here.drawn.ids["c"])]
    assert [(kind, item.record) for kind, item in derived(here.root, a)] == [
        ("proposed-supersession-of", here.drawn.ids["d"])
    ]
    found = item_at(here.view, 0)
    assert found is not None
    assert (found.record, found.path) == (a.id, here.path("record.md"))


def test_the_words_that_mean_something_are_tokens_and_records_tell_their_status(tmp_path: Path) -> None:
    here = scene(FAMILY, tmp_path, ("a",))
    view, _ = here.at("record.md")
    assert [(view.source[token.span], token.kind) for token in tokens(view)] == [
        (here.drawn.ids["a"], "record"),
        ("fact", "kind"),
        ("behavioral", "subtype"),
        *[("el", "anchor")] * 2,
        *[("platform", "anchor")] * 2,
        ("product", "tier"),
        ("agent-verified", "origin"),
    ]
    view, _ = here.at("relations.json")
    assert [token.kind for token in tokens(view)] == ["relation", "record", "relation", "record"]
    view, _ = here.at("evidence/outcomes.jsonl")
    assert [view.source[token.span] for token in tokens(view, view.source.line_span(1))] == [
        "agent-verified",
        "promoted",
    ]
    view, _ = free_text(here, "MEM-1 and MEM-2")
    assert [tuple(token) for token in tokens(view)] == [(Span(0, 5), "record", "active")]
