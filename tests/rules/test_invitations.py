"""The invitations to act: what is said to whom, and what is not said twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from memidex.rules import engine
from memidex.rules.rule import Finding
from memidex.store import opening
from sketch import sketch

CONFIRMED = '{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"e1"}'
PROMOTED = (
    '{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"e2"}'
)


def invitations(text: str, folder: Path, nick: str = "a") -> list[Finding]:
    drawn = sketch(text, folder)
    root = opening.cold(drawn.root.as_posix())
    entry = root.find(drawn.ids[nick])
    assert entry
    return [finding for finding in engine.check_entry(entry, root) if finding.rule.code.startswith("MX5")]


def said(text: str, folder: Path) -> list[tuple[str, str]]:
    return [(finding.rule.name, finding.message) for finding in invitations(text, folder)]


def log(*lines: str) -> str:
    return "-- evidence/outcomes.jsonl --\n" + "".join(line + "\n" for line in lines)


def test_a_candidate_with_nothing_against_it_says_that_nothing_holds_it(tmp_path: Path) -> None:
    [(name, message)] = said(log(CONFIRMED), tmp_path)
    assert name == "awaiting-review"
    assert "nothing holds it" in message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (log(), "no-confirmed-evidence"),
        ("-- record.md --\nevidenceIncomplete: true\n" + log(CONFIRMED), "needs-enrichment"),
        ("-- record.md --\nevidenceIncomplete: true\n" + log(), "no-confirmed-evidence"),
        ('-- record.md --\nkind: "procedure"\n- subtype\n', "not-promotable-kind"),
        ('-- record.md --\nkind: "policy"\n- subtype\n' + log(), "not-promotable-kind"),
        (log(CONFIRMED) + '-- evidence/gates.jsonl --\n{"gate":"promotion","passed":false,"reason":"ambiguous-match"}\n', "ambiguous-match"),
        (
            log(CONFIRMED) + '-- evidence/gates.jsonl --\n{"passed":false,"reason":"ambiguous-match"}\n{"passed":false,"reason":"ci-run"}\n',
            "ci-run",
        ),
        (
            log(CONFIRMED, PROMOTED, '{"buildOrdinal":2,"origin":"user","type":"overturned","overturns":"e2"}'),
            "no-confirmed-evidence",
        ),
    ],
)  # fmt: skip
def test_a_candidate_says_why_the_gate_holds_it(tmp_path: Path, text: str, reason: str) -> None:
    [(name, message)] = said(text, tmp_path)
    assert name == "awaiting-review"
    assert f"held: {reason}" in message


def test_a_promotion_that_a_person_overturned_may_come_again_after_a_later_confirmation(tmp_path: Path) -> None:
    later = CONFIRMED.replace('"buildOrdinal":1', '"buildOrdinal":3').replace("e1", "e3")
    [(_, message)] = said(
        log(CONFIRMED, PROMOTED, '{"buildOrdinal":2,"origin":"user","type":"overturned","overturns":"e2"}', later),
        tmp_path,
    )
    assert "nothing holds it" in message


def test_a_procedure_that_a_later_run_confirmed_waits_for_nobody(tmp_path: Path) -> None:
    later = CONFIRMED.replace('"buildOrdinal":1', '"buildOrdinal":2').replace("e1", "e3")
    assert said('-- record.md --\nkind: "procedure"\n- subtype\n' + log(CONFIRMED, later), tmp_path) == []


def test_an_accepted_policy_waits_for_nobody(tmp_path: Path) -> None:
    assert (
        said(
            '-- record.md --\nkind: "policy"\n- subtype\n' + log(CONFIRMED.replace("agent-verified", "user")), tmp_path
        )
        == []
    )


def test_a_proposal_is_told_as_one_and_not_as_a_candidate_too(tmp_path: Path) -> None:
    text = (
        log(CONFIRMED)
        + '-- relations.json --\n{"relations":[{"type":"proposed-supersession-of","target":"@b"}]}\n-- b/record.md --\n'
    )
    [finding] = invitations(text, tmp_path)
    assert finding.rule.name == "proposed-supersession"
    assert finding.message.startswith("a proposal to replace fact-el-button-b-")
    assert len(finding.related) == 1


def test_an_unknown_is_an_open_question_and_not_a_candidate_too(tmp_path: Path) -> None:
    assert [name for name, _ in said('-- record.md --\nkind: "unknown"\n- subtype\n', tmp_path)] == ["open-question"]


def test_a_deprecated_unknown_is_no_open_question_any_more(tmp_path: Path) -> None:
    text = '-- record.md --\nkind: "unknown"\n- subtype\n' + log(
        '{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"forgotten"}'
    )
    assert said(text, tmp_path) == [("deprecated", "forgotten by a person at build 2")]


@pytest.mark.parametrize(
    ("subtype", "runs", "fades"),
    [("behavioral", 5, False), ("behavioral", 6, True), ("measurement", 3, False), ("measurement", 4, True)],
)
def test_a_record_fades_with_the_fifth_run_and_a_measurement_with_the_third(
    tmp_path: Path, subtype: str, runs: int, fades: bool
) -> None:
    ledger = "".join(f'{{"ordinal":{n}}}\n' for n in range(1, runs + 1))
    text = f'-- record.md --\nsubtype: "{subtype}"\n-- runs.jsonl --\n{ledger}'
    expected = [("fading", "unconfirmed since build 1: served with trust 0.45 instead of 0.75")]
    assert said(text, tmp_path) == (expected if fades else [])


def test_runs_of_a_product_without_a_ledger_are_counted_in_its_events(tmp_path: Path) -> None:
    events = "".join(f'{{"buildOrdinal":{n},"origin":"agent-verified","type":"helpful"}}\n' for n in range(2, 7))
    assert [name for name, _ in said(f"-- runs.jsonl --\n-- evidence/outcomes.jsonl + --\n{events}", tmp_path)] == [
        "fading"
    ]


def test_a_superseded_record_is_shown_as_unnecessary_with_its_successor(tmp_path: Path) -> None:
    text = (
        '-- evidence/outcomes.jsonl + --\n{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@b"}\n'
        '-- relations.json --\n{"relations":[{"type":"superseded-by","target":"@b"}]}\n'
        '-- b/relations.json --\n{"relations":[{"type":"supersedes","target":"@a"}]}\n'
    )
    [finding] = invitations(text, tmp_path)
    assert finding.tags == ("unnecessary",)
    assert finding.message.startswith("superseded at build 2 by fact-el-button-b-")
    assert len(finding.related) == 1


def test_a_deprecated_record_says_why_and_by_whom(tmp_path: Path) -> None:
    event = (
        '{"buildOrdinal":3,"origin":"user","type":"deprecated","reason":"rejected","actor":"mira","note":"A campaign."}'
    )
    [finding] = invitations(log(CONFIRMED, event), tmp_path)
    assert finding.tags == ("deprecated",)
    assert finding.message == "rejected by mira at build 3: A campaign."


def test_a_record_that_cannot_be_read_invites_nobody(tmp_path: Path) -> None:
    assert said("-- record.md (absent) --\n", tmp_path) == []
    assert said("-- evidence/outcomes.jsonl (absent) --\n", tmp_path / "again") == []
