"""Beside tools that take no lock: they append, replace, delete and check out branches in the middle of our decisions."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "lsp"))

from editor_client import Editor
from readings import fresh, shown
from roots import seal
from wounded import hurt

from deciding import LOG, TEXT, Decided, drawn, record, related
from memidex import desk
from memidex.history.change import Actor, Change, Policy, Refused
from memidex.learning.decide import Accepted, undo
from memidex.store import disk, opening, writing
from memidex.store.commit import Commit

PROPOSAL = record("a", "candidate") + related("a", "proposed-supersession-of", "b") + record("b")
THEIRS = '{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed","id":"%s"}\n'


def commit_of(decided: Decided, operation: Any, nick: str = "a", **more: Any) -> Commit:
    answer = decided.decide(operation, nick, **more)
    assert isinstance(answer, Accepted), answer
    return answer.commit


def replace(path: Path, text: str) -> None:
    """As a tool does it that is careful: nobody sees half of it."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text)
    beside.replace(path)


# In the middle of one step --------------------------------------------------------------------------------------------


def meddle(monkeypatch: pytest.MonkeyPatch, name: str, action: Callable[[], object], times: int = 1) -> list[str]:
    """Do something while a file of this name, or its successor, is on its way to the disk; where that was."""
    real = os.fsync
    met: list[str] = []

    def fsync(handle: int) -> None:
        path = os.readlink(f"/proc/self/fd/{handle}")
        real(handle)
        if path.endswith((f"/{name}", f"/.memidex-{name}.tmp")) and len(met) < times:
            met.append(path)
            action()

    monkeypatch.setattr(os, "fsync", fsync)
    return met


def test_a_log_that_is_replaced_under_an_append_refuses_the_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a"), tmp_path)
    commit = commit_of(decided, "confirm")
    theirs = decided.file(LOG).read_text() + THEIRS % "theirs"
    met = meddle(monkeypatch, "outcomes.jsonl", lambda: replace(decided.file(LOG), theirs))
    answer = writing.commit(decided.path, commit)
    assert met
    assert isinstance(answer, Refused)
    assert answer.reason == "stale"
    assert decided.file(LOG).read_text() == theirs
    decided.do("confirm")
    assert decided.entry().standing.confirmed == 3
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]


@pytest.mark.parametrize("what", ["log", "bundle"])
def test_what_is_deleted_under_an_append_refuses_the_decision(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a") + record("b"), tmp_path)
    commit = commit_of(decided, "confirm")
    gone = decided.file(LOG) if what == "log" else decided.file("record.md").parent
    meddle(monkeypatch, "outcomes.jsonl", gone.unlink if what == "log" else lambda: shutil.rmtree(gone))
    answer = writing.commit(decided.path, commit)
    assert isinstance(answer, Refused)
    assert answer.reason == "stale"
    assert not gone.exists()
    decided.do("confirm", "b")


@pytest.mark.parametrize("operation", ["accept", "supersede"])
def test_a_decision_of_several_steps_whose_log_is_replaced_is_whole_or_refused(
    operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a", "candidate" if operation == "accept" else "active"), tmp_path)
    commit = commit_of(decided, operation, **(TEXT if operation == "supersede" else {}))
    theirs = decided.file(LOG).read_text() + THEIRS % "theirs"
    met = meddle(monkeypatch, "outcomes.jsonl", lambda: replace(decided.file(LOG), theirs), 2)
    answer = writing.commit(decided.path, commit)
    assert met
    assert disk.read_journal(decided.path) is None
    log = decided.file(LOG).read_text()
    assert log.startswith(theirs)
    if isinstance(answer, Refused):
        assert answer.reason == "stale"
        assert log == theirs
        assert len(decided.root.entries) == 1
    else:
        lines = [json.loads(line)["id"] for line in log.splitlines()]
        assert all(lines.count(event.id) == 1 for part in commit.parts for event in part.events)


@pytest.mark.parametrize("times", [1, 3])
def test_relations_that_are_replaced_in_the_midst_keep_theirs_and_get_ours(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a"), tmp_path)
    commit = commit_of(decided, "supersede", **TEXT)
    path = decided.file("relations.json")
    numbers = iter(range(100))
    met = meddle(
        monkeypatch, "relations.json", lambda: replace(path, f'{{"relations":[],"theirs":{next(numbers)}}}'), 1 + times
    )
    assert isinstance(writing.commit(decided.path, commit), writing.Written)  # the first is that of the new bundle
    assert len(met) == 1 + times
    after = json.loads(path.read_text())
    assert after["theirs"] == times
    assert [item["type"] for item in after["relations"]] == ["superseded-by"]


def test_rules_that_are_replaced_in_the_midst_keep_theirs_and_get_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a", "candidate", "policy"), tmp_path)
    policies = Path(decided.path, "policies.md")
    policies.write_text("# Policies\n")
    meddle(monkeypatch, "policies.md", lambda: replace(policies, "# Policies\n\n- theirs\n"))
    assert isinstance(writing.commit(decided.path, commit_of(decided, "accept")), writing.Written)
    text = policies.read_text()
    assert "- theirs\n" in text
    assert decided.drawn.ids["a"] in text


def test_a_manifest_that_is_replaced_in_the_midst_keeps_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = drawn(record("a"), tmp_path)
    path = decided.file("manifest.json")
    theirs = json.dumps({"writer": "other", **json.loads(path.read_text())})
    meddle(monkeypatch, "manifest.json", lambda: replace(path, theirs))
    assert isinstance(writing.commit(decided.path, commit_of(decided, "confirm")), writing.Written)
    assert json.loads(path.read_text())["writer"] == "other"
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]


@pytest.mark.parametrize("at", ["outcomes.jsonl", "manifest.json"])
def test_what_others_change_in_the_midst_is_not_sealed_as_ours(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a"), tmp_path)

    def change() -> None:
        with decided.file(LOG).open("a") as log:
            log.write(THEIRS % "theirs")
        replace(decided.file("record.md"), decided.file("record.md").read_text() + "\nmore\n")
        replace(decided.file("relations.json"), '{"relations":[],"theirs":1}')

    meddle(monkeypatch, at, change)
    assert isinstance(writing.commit(decided.path, commit_of(decided, "confirm")), writing.Written)
    bundle = decided.root.bundle(decided.entry())
    assert bundle
    assert dict(bundle.seals) == {"record.md": "edited", "relations.json": "edited"}
    assert "theirs" in bundle.log.identities


def test_a_manifest_that_never_rests_is_told_and_the_event_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = drawn(record("a"), tmp_path)
    path = decided.file("manifest.json")
    numbers = iter(range(100))

    def change() -> None:
        replace(path, json.dumps({**json.loads(path.read_text()), "writer": next(numbers)}))

    meddle(monkeypatch, "manifest.json", change, 100)
    answer = writing.commit(decided.path, commit_of(decided, "confirm"))
    assert isinstance(answer, writing.Written)
    assert len(answer.unsealed) == 1
    assert decided.entry().standing.confirmed == 2
    assert decided.root.bundle(decided.entry()).integrity == "appended"  # type: ignore[union-attr]
    assert not list(Path(decided.path).rglob(".memidex-*"))


@pytest.mark.parametrize("left", ["folder", "artifacts", "evidence"])
def test_a_crash_and_then_a_branch_without_the_record_does_not_close_the_root(left: str, tmp_path: Path) -> None:
    decided = drawn(record("a") + record("b"), tmp_path / "whole")
    disk.state_folder(decided.path)
    shutil.copytree(decided.path, tmp_path / "model")
    commit = commit_of(decided, "supersede", **TEXT)

    def told() -> str:
        return type(writing.commit(decided.path, commit)).__name__

    for number in range(hurt("not", 0, told).calls):
        shutil.rmtree(decided.path)
        shutil.copytree(tmp_path / "model", decided.path)
        hurt("kill", number, told)
        bundle = decided.file("record.md").parent
        shutil.rmtree(bundle)
        if left != "folder":
            (bundle / left).mkdir(parents=True)  # what git ignores stays
        decided.do("confirm", "b")
        assert disk.read_journal(decided.path) is None


# A storm --------------------------------------------------------------------------------------------------------------

NICKS = "abcdef"


def writer(path: str, records: list[str], number: int, out: str) -> None:
    """Decide until told to stop, and note each answer with the time at which it was begun."""
    chance = random.Random(number)
    with Path(out).open("w") as file:
        while not Path(f"{path}.stop").exists():
            if Path(f"{path}.pause").exists():
                file.write(json.dumps(["paused", 0, []]) + "\n")
                file.flush()
                while Path(f"{path}.pause").exists():
                    time.sleep(0.01)
            began = time.monotonic()
            try:
                answer, events = one(path, chance)
            except Exception as error:
                answer, events = f"crash {error!r}", []
            file.write(json.dumps([answer, began, events]) + "\n")
            file.flush()


def one(path: str, chance: random.Random) -> tuple[str, list[str]]:
    root = opening.cold(path)
    entries = sorted(root.entries.values(), key=lambda entry: entry.directory)
    if not entries:
        return "refused nothing-there", []
    entry = chance.choice(entries)
    operation: Any = chance.choice(["confirm", "confirm", "contradict", "contradict", "retract", "supersede", "forget"])
    change = Change(operation=operation, record=entry.directory, note="in a storm")
    if operation == "retract" or not entry.standing.live:
        found = undo(root, entry)
        if found is None:
            return "refused nothing-to-undo", []
        change = found
    elif operation == "supersede":
        change = Change(operation=operation, record=entry.directory, summary=f"now {chance.random()}", detail="seen")
    outcome = desk.ask(root, change, Actor("user", "storm"), Policy())
    if isinstance(outcome.answer, Refused):
        return f"refused {outcome.answer.reason}", []
    events = [event.id or "" for part in outcome.answer.commit.parts for event in part.events]
    return "written", events


class Other:
    """Another tool, which knows nothing of the lock."""

    def __init__(self, decided: Decided) -> None:
        self.decided = decided
        self.chance = random.Random(7)
        self.number = 0
        self.appended: list[str] = []

    def git(self, *arguments: str, check: bool = False) -> int:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(command, cwd=self.decided.path, capture_output=True, check=check).returncode

    def branches(self) -> None:
        """A branch with other logs and without one of the records."""
        self.git("init", "-q", "-b", "main", check=True)
        self.git("add", "-A", check=True)
        self.git("commit", "-qm", "one", check=True)
        self.git("checkout", "-qb", "other", check=True)
        for nick in "bc":
            with self.decided.file(LOG, nick).open("a") as log:
                log.write(THEIRS % f"branch-{nick}")
            seal(self.decided.file("record.md", nick).parent)
        shutil.rmtree(self.decided.file("record.md", "f").parent)
        self.git("add", "-A", check=True)
        self.git("commit", "-qm", "two", check=True)
        self.git("checkout", "-q", "main", check=True)

    def act(self, *, gently: bool) -> str:
        self.number += 1
        path = self.decided.file("record.md", self.chance.choice(NICKS))
        what = self.chance.choice(
            ["append", "append", "record", "relations", *([] if gently else ["delete", "branch"])]
        )
        try:
            if what == "append":
                name = f"theirs-{self.number}"
                handle = os.open(path.parent / LOG, os.O_WRONLY | os.O_APPEND)
                os.write(handle, (THEIRS % name).encode())
                os.close(handle)
                self.appended.append(name)
            elif what == "record":
                replace(path, path.read_text().rstrip("\n") + "\nSeen again.\n")
            elif what == "relations":
                if path.parent.exists():
                    replace(path.with_name("relations.json"), f'{{"relations":[],"theirs":{self.number}}}\n')
            elif what == "delete":
                shutil.rmtree(path.parent, ignore_errors=True)
            else:
                self.git("checkout", "-qf", self.chance.choice(["main", "other"]))
        except FileNotFoundError:
            what = "missed"
        return what


def lines(decided: Decided) -> Counter[str]:
    """How often each event is in the logs, every line of which is whole."""
    found: Counter[str] = Counter()
    for path in Path(decided.path).glob(f"memory/*/bundles/[!.]*/{LOG}"):
        data = path.read_bytes()
        assert data.endswith(b"\n"), path
        found.update(json.loads(line)["id"] for line in data.splitlines())
    return found


def told(outs: list[Path]) -> list[Any]:
    return [json.loads(line) for out in outs for line in out.read_text().splitlines()]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_storm_of_other_tools_loses_nothing_and_breaks_nothing(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    decided = drawn("".join(record(nick) for nick in NICKS), tmp_path)
    other = Other(decided)
    other.branches()
    outs = [tmp_path / f"out{number}" for number in range(2)]
    children = [
        get_context("fork").Process(target=writer, args=(decided.path, [], number, str(out)))
        for number, out in enumerate(outs)
    ]
    with Editor(tmp_path) as editor:
        editor.request("memidex/inspect", {})
        for child in children:
            child.start()
        did: Counter[str] = Counter()
        until = time.monotonic() + 5
        while time.monotonic() < until or did["branch"] < 5:
            did[other.act(gently=False)] += 1
            time.sleep(0.01)
        pause = Path(f"{decided.path}.pause")
        pause.touch()
        while sum(item[0] == "paused" for item in told(outs)) < len(outs):
            assert all(child.is_alive() for child in children), told(outs)[-3:]
            time.sleep(0.02)
        lines(decided)  # each is whole
        other.git("checkout", "-qf", "main", check=True)
        other.git("clean", "-qfd", check=True)
        other.appended.clear()
        calm = time.monotonic()
        pause.unlink()
        while time.monotonic() < calm + 2:
            did[other.act(gently=True)] += 1
            time.sleep(0.01)
        Path(f"{decided.path}.stop").touch()
        for child in children:
            child.join(30)
            assert child.exitcode == 0
        answers = told(outs)
        reasons = Counter(item[0] for item in answers)
        assert not [name for name in reasons if name.startswith("crash")], reasons
        there = lines(decided)
        late = [event for answer, began, events in answers if answer == "written" and began > calm for event in events]
        assert late
        assert other.appended
        assert all(there[event] == 1 for event in [*late, *other.appended])
        root = decided.root
        for entry in root.entries.values():
            bundle = root.bundle(entry)
            assert bundle
            assert bundle.integrity != "rewritten", (entry.id, bundle.seals)
            assert not bundle.files[LOG].problems
        expected = fresh(decided.path)
        editor.until(lambda: shown(editor) == expected, 30)
    record_property("decisions in a storm of other tools", reasons["written"])
    record_property("acts of other tools in the storm", did.total())
    print(reasons, did)
