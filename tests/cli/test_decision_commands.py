"""A person decides on the command line: what is written, what is answered, what is refused, and what a dry run shows."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import inside, process

from deciding import LOG, THREE
from memidex import example
from memidex.learning.reasons import BY_NAME
from memidex.rules import engine
from memidex.store import opening
from sketch import Sketch, sketch


@pytest.fixture
def drawn(tmp_path: Path) -> Sketch:
    return sketch(THREE, tmp_path)


def status(drawn: Sketch, nick: str = "a") -> str:
    found = opening.cold(drawn.root.as_posix()).find(drawn.ids.get(nick, nick))
    assert found
    return found.status


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".memidex" not in path.parts
    }


def results(folder: Path, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    done = inside(folder, *arguments, "--format", "json")
    assert done.code == code, done
    assert done.json["version"] == 1
    return done.json["results"]


def test_accepting_answers_with_the_new_card_and_the_events_that_are_in_the_log(drawn: Sketch, tmp_path: Path) -> None:
    (result,) = results(tmp_path, "accept", drawn.ids["a"], "--note", "seen in the shop")
    assert list(result) == ["address", "card", "events"]
    assert result["address"] == drawn.ids["a"]
    assert (result["card"]["status"], result["card"]["integrity"]) == ("active", "sealed")
    assert not os.path.isabs(result["card"]["path"])
    lines = [json.loads(line) for line in drawn.path(LOG).read_text().splitlines()[1:]]
    assert [{"record": drawn.ids["a"], **line} for line in lines] == result["events"]
    assert [(event["type"], event["note"]) for event in lines] == [
        ("confirmed", "seen in the shop"),
        ("promoted", "seen in the shop"),
    ]
    assert len({event["id"] for event in lines}) == 2
    assert all(event["id"][14] == "7" for event in lines)


def test_several_addresses_are_answered_each_for_itself(drawn: Sketch, tmp_path: Path) -> None:
    inside(tmp_path, "inspect")
    path = drawn.path("record.md", "c").relative_to(tmp_path).as_posix()
    good, bad, unknown, proposal = results(tmp_path, "accept", "MEM-1", drawn.ids["b"], "MEM-99", path, code=1)
    assert good["card"]["status"] == "active"
    assert (bad["refused"], bad["events"]) == ("already-so", [])
    assert (unknown["address"], unknown["refused"]) == ("MEM-99", "unknown-record")
    assert proposal["card"]["id"] == drawn.ids["c"]
    assert status(drawn, "b") == "superseded"
    assert {result["refused"] for result in (bad, unknown)} <= set(BY_NAME)


def test_people_are_told_in_a_line_what_became_of_each_record(drawn: Sketch, tmp_path: Path) -> None:
    done = inside(tmp_path, "accept", drawn.ids["a"], drawn.ids["b"])
    assert done.code == 1
    assert done.out.count("\n") == 1
    assert "accepted: candidate, trust 0.75 → active, trust 0.80" in done.out
    assert done.err == f"memidex: {drawn.ids['b']} is active [already-so]\n"


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        (["confirm", "@a"], "active"),
        (["reject", "@a"], "deprecated"),
        (["forget", "@b"], "deprecated"),
        (["contradict", "@b"], "active"),
        (["supersede", "@b", "--summary", "it is called Buy", "--detail", "Seen."], "superseded"),
        (["supersede", "@b", "--by", "@c"], "superseded"),
        (["overturn", "b-2"], "candidate"),
        (["retract", "b-2"], "candidate"),
    ],
)
def test_each_command_decides_and_its_dry_run_writes_nothing(
    arguments: list[str], after: str, drawn: Sketch, tmp_path: Path
) -> None:
    arguments = [drawn.ids.get(argument[1:], argument) if argument[0] == "@" else argument for argument in arguments]
    nick = (
        "b" if arguments[1].startswith("b-") else next(nick for nick, name in drawn.ids.items() if name == arguments[1])
    )
    before = files(tmp_path)
    (dry,) = results(tmp_path, *arguments, "--dry-run")
    text = inside(tmp_path, *arguments, "--dry-run")
    assert "would append to memory/shop/bundles/" in text.out
    assert files(tmp_path) == before
    (done,) = results(tmp_path, *arguments)
    assert status(drawn, nick) == after
    own = ("id", "at", "retracts", "by", "record")
    assert [{name: value for name, value in event.items() if name not in own} for event in dry["events"]] == [
        {name: value for name, value in event.items() if name not in own} for event in done["events"]
    ]
    root = opening.cold(drawn.root.as_posix())
    found = [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root)]
    assert [finding for finding in found if finding.severity == "error"] == []
    again = results(tmp_path, *arguments, code=1)
    assert again[0]["refused"] in ("already-so", "not-live")


def test_retracting_by_the_records_address_undoes_decision_after_decision(drawn: Sketch, tmp_path: Path) -> None:
    record = drawn.ids["a"]
    for command in ("accept", "forget"):
        assert inside(tmp_path, command, record).code == 0
    assert "taken back: forget" in inside(tmp_path, "retract", record).out
    assert status(drawn) == "active"
    assert inside(tmp_path, "retract", record).code == 0
    assert status(drawn) == "candidate"
    (result,) = results(tmp_path, "retract", record, code=1)
    assert result["refused"] == "nothing-to-undo"
    (result,) = results(tmp_path, "retract", "no-such-event", code=1)
    assert result["refused"] == "unknown-event"


def test_sealing_says_when_there_is_nothing_to_seal(drawn: Sketch, tmp_path: Path) -> None:
    (result,) = results(tmp_path, "seal", drawn.ids["a"], code=1)
    assert result["refused"] == "already-so"
    file = drawn.path("record.md")
    file.write_text(file.read_text().replace("Seen", "Seen again"))
    (result,) = results(tmp_path, "seal", drawn.ids["a"])
    assert (result["card"]["integrity"], result["events"]) == ("sealed", [])


def test_the_persons_name_comes_from_the_environment(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "confirm", drawn.ids["b"], MEMIDEX_ACTOR="mira", CI="true")
    assert done.code == 0, done.err
    assert '"actor":"mira"' in drawn.path(LOG, "b").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_root_that_cannot_be_written_is_refused(drawn: Sketch, tmp_path: Path) -> None:
    drawn.root.chmod(0o500)
    try:
        (result,) = results(tmp_path, "confirm", drawn.ids["b"], code=1)
    finally:
        drawn.root.chmod(0o700)
    assert result["refused"] == "read-only"


# gc -------------------------------------------------------------------------------------------------------------------


def chain(length: int, user: int = -1) -> str:
    """A chain of supersession, `a` the newest; the record numbered `user` is a person's."""
    nicks = "abcdefgh"[:length]
    parts: list[str] = []
    for number, nick in enumerate(nicks):
        newer, older = (nicks[number - 1] if number else ""), (nicks[number + 1] if number + 1 < length else "")
        own = 'originClass: "user"\n' if number == user else ""
        relations = [
            *([f'{{"type":"supersedes","target":"@{older}"}}'] if older else []),
            *([f'{{"type":"superseded-by","target":"@{newer}"}}'] if newer else []),
        ]
        ended = f'{{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@{newer}","id":"{nick}-3"}}\n'
        parts.append(
            f"-- {nick}/record.md --\n{own}-- {nick}/{LOG} + --\n{ended if newer else ''}"
            f'-- {nick}/relations.json --\n{{"relations":[{",".join(relations)}]}}\n'
        )
    return "".join(parts)


def test_three_superseded_generations_stay_and_what_names_an_older_one_is_marked(tmp_path: Path) -> None:
    drawn = sketch(chain(7), tmp_path)
    before = files(tmp_path)
    dry = inside(tmp_path, "gc", "--dry-run", "--format", "json").json
    assert files(tmp_path) == before
    done = inside(tmp_path, "gc", "--format", "json").json
    assert done["removed"] == dry["removed"]
    assert {place.rpartition("/")[2] for place in done["removed"]} == {drawn.ids[nick] for nick in "efg"}
    root = opening.cold(drawn.root.as_posix())
    assert {entry.id for entry in root.entries.values()} == {drawn.ids[nick] for nick in "abcd"}
    last = root.find(drawn.ids["d"])
    assert last
    assert [(item.type, item.collected) for item in last.relations] == [("supersedes", True), ("superseded-by", None)]
    assert root.bundle(last).integrity == "sealed"  # type: ignore[union-attr]
    assert [
        f
        for entry in root.entries.values()
        for f in engine.check_entry(entry, root)
        if f.severity in ("error", "warning") and f.rule.name.startswith("relation")
    ] == []
    assert inside(tmp_path, "gc", "--format", "json").json["removed"] == []
    assert [path.name for path in drawn.root.rglob(".memidex-*")] == []


def test_a_persons_record_is_never_removed_nor_one_that_somebody_edited(tmp_path: Path) -> None:
    drawn = sketch(chain(7, user=5), tmp_path)
    file = drawn.path("record.md", "g")
    file.write_text(file.read_text().replace("Seen", "I saw it"))
    done = inside(tmp_path, "gc")
    assert done.out.count("removed ") == 1
    assert not drawn.path("record.md", "e").exists()
    assert drawn.path("record.md", "f").exists()
    assert drawn.path("record.md", "g").exists()


def test_nothing_of_the_example_is_removed_or_broken_by_accepting_all_its_candidates(tmp_path: Path) -> None:
    shutil.copytree(example.path(), tmp_path / "agent-qa-knowledge", ignore=shutil.ignore_patterns(".memidex"))
    rows = inside(tmp_path, "inspect", "--status", "candidate", "--format", "json").json["records"]
    assert rows
    done = inside(tmp_path, "accept", *[row["id"] for row in rows], "--format", "json")
    assert {result.get("refused") for result in done.json["results"]} <= {None, "already-so", "target-not-live"}
    assert inside(tmp_path, "check", "--fail-on", "error").code == 0
    assert inside(tmp_path, "verify").code == 0
