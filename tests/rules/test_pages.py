"""Every rule's page is its own test: the flagged example is reported at its marks, the clean one is not, the fix mends."""

from __future__ import annotations

from pathlib import Path

import pytest

from memidex.rules import engine, registry
from memidex.rules.rule import Finding, Rule
from memidex.store import opening
from memidex.text import Edit, Source, apply, decode
from sketch import Sketch, sketch

NO_EXAMPLE = {"rule-crashed"}
WITH_EXAMPLES = [rule for rule in registry.RULES if rule.name not in NO_EXAMPLE]


def findings(drawn: Sketch) -> list[Finding]:
    root = opening.cold(drawn.root.as_posix())
    every = [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root)]
    return engine.ordered([*every, *engine.check_root(root)])


def of(rule: Rule, found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.rule is rule]


def shown(finding: Finding) -> tuple[str, int, int, int]:
    """(path, line, first column, column after), as a sketch marks it."""
    source = Source(decode(Path(finding.path).read_bytes())[0]) if Path(finding.path).is_file() else Source("")
    line, column = source.position(finding.span.start)
    end_line, end = source.position(finding.span.end)
    return finding.path, line, column, end if end_line == line else len(source.line_text(line))


@pytest.mark.parametrize("rule", WITH_EXAMPLES, ids=lambda rule: rule.name)
def test_a_flagged_example_is_reported_just_at_its_marks(rule: Rule, tmp_path: Path) -> None:
    examples = rule.examples("flagged")
    assert examples, "the page has a flagged example"
    for number, example in enumerate(examples):
        drawn = sketch(example, tmp_path / str(number))
        found = of(rule, findings(drawn))
        assert found, f"flagged example {number + 1} is reported"
        if drawn.marks:
            assert sorted(shown(finding) for finding in found) == sorted(drawn.marks)
        assert all(finding.message for finding in found)


@pytest.mark.parametrize("rule", WITH_EXAMPLES, ids=lambda rule: rule.name)
def test_a_clean_example_is_not_reported(rule: Rule, tmp_path: Path) -> None:
    examples = rule.examples("clean")
    assert examples, "the page has a clean example"
    for number, example in enumerate(examples):
        assert of(rule, findings(sketch(example, tmp_path / str(number)))) == []


@pytest.mark.parametrize("rule", [rule for rule in WITH_EXAMPLES if rule.examples("fixed")], ids=lambda rule: rule.name)
def test_the_first_fix_of_the_flagged_example_gives_the_fixed_one(rule: Rule, tmp_path: Path) -> None:
    for number, (flagged, fixed) in enumerate(zip(rule.examples("flagged"), rule.examples("fixed"), strict=False)):
        drawn = sketch(flagged, tmp_path / f"{number}-flagged")
        wanted = sketch(fixed, tmp_path / f"{number}-fixed")
        mended = of(rule, findings(drawn))[0]
        assert mended.fixes, "there is a fix"
        edits: dict[str, list[Edit]] = {}
        for path, span, text in mended.fixes[0].edits:
            edits.setdefault(path, []).append(Edit(span, text))
        for path, changes in edits.items():
            before = decode(Path(path).read_bytes())[0]
            Path(path).write_text(apply(before, changes), encoding="utf-8", newline="")
        for path in wanted.root.rglob("*"):
            if path.is_file() and path.name != "manifest.json" and ".memidex" not in path.parts:
                assert (drawn.root / path.relative_to(wanted.root)).read_text() == path.read_text(), path.name
        assert of(rule, findings(drawn)) == [] or len(of(rule, findings(drawn))) < len(drawn.marks)
