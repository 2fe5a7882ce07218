"""How the rules are run: versions, silenced rules, conflicts, crashes, severities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memidex.records.memidex.bundle import Bundle
from memidex.rules import engine, registry
from memidex.rules.rule import ALL, Finding, Report, Rule, Selection
from memidex.store import opening
from memidex.store.snapshot import Root
from sketch import Sketch, sketch

WRONG = 'kind: "fct"\nstatus: "active"\n'


def findings(drawn: Sketch, selection: Selection = ALL) -> list[Finding]:
    root = opening.cold(drawn.root.as_posix())
    return [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root, selection)]


def names(drawn: Sketch, selection: Selection = ALL) -> list[str]:
    return sorted({finding.rule.name for finding in findings(drawn, selection)})


def test_a_healthy_record_has_no_finding(tmp_path: Path) -> None:
    assert names(sketch("-- record.md --\n", tmp_path)) == []


def test_of_a_version_that_is_not_understood_nothing_else_is_judged(tmp_path: Path) -> None:
    text = f'-- record.md --\nschemaVersion: 3\n{WRONG}-- relations.json --\n[5]\n-- b/relations.json --\n{{"relations":[{{"type":"supersedes","target":"@a"}}]}}\n'
    drawn = sketch(text, tmp_path)
    here = drawn.ids["a"]
    assert [item.rule.name for item in findings(drawn) if here in item.path] == ["unsupported-version"]


def test_a_version_in_quotes_is_a_wrong_type_and_the_rest_is_judged(tmp_path: Path) -> None:
    assert names(sketch(f'-- record.md --\nschemaVersion: "2"\n{WRONG}', tmp_path)) == [
        "stored-derived-field",
        "unknown-value",
        "wrong-type",
    ]


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("<!-- memidex: allow stored-derived-field -->", ["unknown-value"]),
        ("<!-- memidex: allow stored-derived-field, unknown-value -->", []),
        ("<!--memidex:allow stored-derived-field unknown-value-->", []),
        ("<!-- memidex: allow MX106 -->", ["unknown-value"]),
        ("<!-- memidex: allow id-form -->", ["stored-derived-field", "unknown-value"]),
        ("memidex: allow stored-derived-field", ["stored-derived-field", "unknown-value"]),
    ],
)
def test_a_comment_in_the_body_silences_the_rules_it_names_for_the_record(
    comment: str, left: list[str], tmp_path: Path
) -> None:
    assert names(sketch(f"-- record.md --\n{WRONG}## Summary\n\na\n\n## Detail\n\nb\n\n{comment}\n", tmp_path)) == left


def test_a_comment_silences_a_rule_about_other_files_of_the_record_too(tmp_path: Path) -> None:
    text = '-- record.md --\n## Summary\n\na\n\n## Detail\n\n<!-- memidex: allow {} -->\nb\n-- observations.jsonl --\n{{"id":"o","value":"a\\u200bb"}}\n'
    assert names(sketch(text.format("hidden-characters"), tmp_path / "1")) == []
    assert names(sketch(text.format("id-form"), tmp_path / "2")) == ["hidden-characters"]


def test_a_comment_of_one_record_silences_nothing_on_another(tmp_path: Path) -> None:
    text = f"-- record.md --\n## Summary\n\na\n\n## Detail\n\nb <!-- memidex: allow unknown-value, stored-derived-field -->\n-- b/record.md --\n{WRONG}"
    assert names(sketch(text, tmp_path)) == ["stored-derived-field", "unknown-value"]


def test_of_a_file_with_a_conflict_only_that_is_told_and_the_others_are_judged(tmp_path: Path) -> None:
    text = f'-- record.md --\n{WRONG}## Summary\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\n-- observations.jsonl --\n{{"id":"o","value":"a\\u200bb"}}\n'
    drawn = sketch(text, tmp_path)
    assert names(drawn) == ["conflict-markers", "hidden-characters"]


def test_the_findings_of_a_record_stand_in_the_order_of_their_places_and_once(tmp_path: Path) -> None:
    found = findings(sketch(f'-- record.md --\n{WRONG}createdAtOrdinal: "x"\n', tmp_path))
    keys = [(item.path, item.span, item.rule.code, item.message) for item in found]
    assert keys == sorted(set(keys))


def test_a_severity_can_be_chosen_by_name_and_by_code_and_a_rule_be_switched_off(tmp_path: Path) -> None:
    drawn = sketch(f"-- record.md --\n{WRONG}", tmp_path)
    chosen = Selection({"unknown-value": "hint", "MX106": "off"})
    assert [(item.rule.name, item.severity) for item in findings(drawn, chosen)] == [("unknown-value", "hint")]
    assert names(drawn, Selection(only=frozenset({"MX105"}))) == ["unknown-value"]
    assert names(drawn, Selection(ignored=frozenset({"MX1"}))) == []
    assert names(drawn, Selection(only=frozenset({"MX1"}), ignored=frozenset({"stored-derived-field"}))) == [
        "unknown-value"
    ]


def test_a_rule_that_fails_is_a_finding_and_the_others_run_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(bundle: Bundle, root: Root) -> Iterator[Report]:
        yield Report("record.md", engine.Place(("id",)), "one that came before")
        raise ZeroDivisionError

    rule = Rule("MX199", "made-to-fail", "warning", bundle=fails)
    monkeypatch.setattr(registry, "RULES", (rule, *registry.RULES))
    engine.plan.cache_clear()
    found = findings(sketch(f"-- record.md --\n{WRONG}", tmp_path))
    assert sorted(item.rule.name for item in found) == ["rule-crashed", "stored-derived-field", "unknown-value"]
    crashed = next(item for item in found if item.rule.name == "rule-crashed")
    assert "made-to-fail" in crashed.message
    assert "ZeroDivisionError" in crashed.message
    engine.plan.cache_clear()


def test_every_code_and_name_stands_once_and_in_the_order_of_the_codes() -> None:
    codes = [rule.code for rule in registry.RULES]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in registry.RULES}) == len(codes)


def test_every_page_starts_with_one_short_sentence() -> None:
    for rule in registry.RULES:
        assert rule.sentence.endswith((".", "`", "?")), rule.name
        assert len(rule.sentence) <= 200, rule.name
