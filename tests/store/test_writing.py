"""Nothing is lost: killed at any call, cut short, on a full disk, by many writers at once, and beside other tools."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from wounded import How, hurt

from deciding import LOG, MIRA, NEXT, NOW, TEXT, Decided, drawn, reason, record, related
from memidex.history.change import Actor, Change, Policy, Refused
from memidex.learning.decide import Accepted, decide, undo
from memidex.records.memidex import bundle as bundles
from memidex.records.memidex.values import Event, Relation
from memidex.store import disk, opening, writing
from memidex.store.commit import Commit, Part, RelationEdit, Removal
from memidex.store.snapshot import Root
from sketch import Sketch

NOOR = Actor("user", "noor")
POINTS = {
    "kill": "points at which a decision was killed",
    "cut": "points at which a write was cut short and the decision killed",
    "full": "points at which the disk was full in a decision",
}
PROPOSAL = record("a", "candidate") + related("a", "proposed-supersession-of", "b") + record("b")
Choice = Callable[[Root, Sketch], Change]


def asked(operation: Any, **more: Any) -> Choice:
    return lambda _, drawn: Change(operation=operation, record=drawn.ids["a"], **more)


def undone(root: Root, drawn: Sketch) -> Change:
    found = root.find(drawn.ids["a"])
    assert found
    change = undo(root, found)
    assert change
    return change


def edited(decided: Decided) -> None:
    file = decided.file("record.md")
    file.write_text(file.read_text().replace("Seen in", "Seen by hand in"))


CASES: dict[str, tuple[str, Callable[[Decided], object], Choice]] = {
    "one event": (record("a"), lambda _: None, asked("confirm")),
    "two events": (record("a", "candidate"), lambda _: None, asked("accept")),
    "forget": (record("a"), lambda _: None, asked("forget", note="gone since the new shop")),
    "supersede": (record("a"), lambda _: None, asked("supersede", **TEXT)),
    "accept a proposal": (PROPOSAL, lambda _: None, asked("accept")),
    "accept a policy": (record("a", "candidate", "policy"), lambda _: None, asked("accept")),
    "undo a supersession": (PROPOSAL, lambda decided: decided.do("accept"), undone),
    "seal": (record("a"), edited, asked("seal")),
    "after a torn line": (record("a", "candidate"), lambda d: d.file(LOG).write_bytes(d.file(LOG).read_bytes() + b'{"bu'), asked("accept")),
}  # fmt: skip


def decision(decided: Decided, choice: Choice) -> Commit:
    root = decided.root
    change = choice(root, decided.drawn)
    found = root.find(change.record)
    assert found
    answer = decide(root, change, MIRA, Policy(), root.product(found.product).current, NOW, NEXT)
    assert isinstance(answer, Accepted), answer
    return answer.commit


def view(decided: Decided) -> Any:
    """Everything that a person sees of a root, read by someone who comes anew."""
    root = decided.root
    policies = Path(decided.path) / "policies.md"
    rows: dict[str, Any] = {}
    for entry in root.entries.values():
        bundle = root.bundle(entry)
        assert bundle
        assert bundle.integrity != "rewritten"
        integrity = "sound" if bundle.integrity in ("sealed", "appended") else bundle.integrity
        rows[entry.id] = (entry.standing, entry.relations, sorted(bundle.log.identities), integrity)
    return rows, policies.read_text() if policies.exists() else None


def told(path: str, commit: Commit) -> str:
    answer = writing.commit(path, commit)
    return "acknowledged" if isinstance(answer, writing.Written) else f"refused {answer.reason}"


def left_over(decided: Decided) -> list[str]:
    return [path.name for path in Path(decided.path).rglob(".memidex-*")]


# Killed at any write --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["kill", "cut", "full"])
@pytest.mark.parametrize("case", CASES)
def test_hurt_at_any_call_the_root_is_before_or_after_and_never_between(
    case: str, how: How, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    text, prepare, choice = CASES[case]
    whole = drawn(text, tmp_path / "whole")
    prepare(whole)
    disk.state_folder(whole.path)
    shutil.copytree(whole.path, tmp_path / "model")
    commit = decision(whole, choice)
    before = view(whole)
    end = hurt("not", 0, lambda: told(whole.path, commit))
    assert end.said == "acknowledged"
    after = view(whole)
    assert before != after
    fates = {"before": 0, "after": 0}
    for number in range(end.calls):
        shutil.rmtree(whole.path)
        shutil.copytree(tmp_path / "model", whole.path)
        hurt_end = hurt(how, number, lambda: told(whole.path, commit))
        assert not hurt_end.said.startswith("fault"), (number, hurt_end)
        seen = view(whole)
        assert seen in (before, after), (number, hurt_end)
        if hurt_end.said == "acknowledged":
            assert seen == after, (number, hurt_end)
        elif hurt_end.said.startswith("OSError"):
            assert seen == before, (number, hurt_end)
        fates["after" if seen == after else "before"] += 1
        again = (
            whole.decide("confirm", actor=NOOR)
            if whole.entry().standing.live
            else whole.decide("retract", events=(whole.root.bundle(whole.entry()).log.identities[0],))
        )  # type: ignore[union-attr]
        whole.apply(again)
        assert whole.root.bundle(whole.entry()).integrity in ("sealed", "edited")  # type: ignore[union-attr]
        assert left_over(whole) == []
    assert fates["before"]
    assert fates["after"]
    record_property(POINTS[how], end.calls)


@pytest.mark.parametrize("case", ["supersede", "undo a supersession"])
def test_killed_again_while_a_crash_is_mended_it_is_mended_the_next_time(
    case: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    text, prepare, choice = CASES[case]
    whole = drawn(text, tmp_path / "whole")
    prepare(whole)
    disk.state_folder(whole.path)
    shutil.copytree(whole.path, tmp_path / "model")
    commit = decision(whole, choice)
    calls = hurt("not", 0, lambda: told(whole.path, commit)).calls
    after = view(whole)

    def crashed(number: int) -> bool:
        shutil.rmtree(whole.path)
        shutil.copytree(tmp_path / "model", whole.path)
        hurt("kill", number, lambda: told(whole.path, commit))
        return disk.read_journal(whole.path) is not None

    tried = 0
    for number in range(0, calls, 3):
        if not crashed(number):
            continue
        for second in range(0, hurt("not", 0, lambda: str(writing.roll_forward(whole.path))).calls, 2):
            assert crashed(number)
            hurt("kill", second, lambda: str(writing.roll_forward(whole.path)))
            assert view(whole) == after, (number, second)
            tried += 1
    assert tried > 50
    record_property("pairs of a crash and a crash while it was mended", tried)


@pytest.mark.parametrize("case", ["one event", "two events", "forget", "after a torn line", "seal"])
def test_a_decision_on_one_record_waits_for_the_disk_three_times_at_most(case: str, tmp_path: Path) -> None:
    text, prepare, choice = CASES[case]
    decided = drawn(text, tmp_path)
    decided.do("contradict", actor=NOOR)
    disk.write_journal(decided.path, b"")  # the journal's file is made once in the life of a root
    prepare(decided)
    commit = decision(decided, choice)
    end = hurt("not", 0, lambda: told(decided.path, commit))
    assert end.said == "acknowledged"
    assert 1 <= end.fsyncs <= 3


def test_a_commit_of_which_nothing_is_seen_is_let_go_where_its_records_moved(tmp_path: Path) -> None:
    decided = drawn(PROPOSAL, tmp_path)
    commit = decision(decided, asked("accept"))
    disk.write_journal(decided.path, writing.ENCODER.encode(writing.Journal(1, commit, {})))
    with decided.file(LOG, "b").open("a") as log:  # another branch was checked out
        log.write('{"buildOrdinal":3,"origin":"user","type":"contradicted","id":"elsewhere"}\n')
    before = decided.files()
    assert not writing.roll_forward(decided.path)
    assert decided.files() == before
    assert disk.read_journal(decided.path) is None


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"version":1}', b'{"version":9,"commit":{},"sealable":{}}', bytes(range(50))]
)
def test_a_journal_that_says_nothing_does_nothing(data: bytes, tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    before = decided.files()
    disk.write_journal(decided.path, data)
    assert not writing.roll_forward(decided.path)
    decided.do("confirm")
    assert sum(old != new for old, new in zip(before.values(), decided.files().values(), strict=True)) == 2


# Many writers ---------------------------------------------------------------------------------------------------------


def decider(path: str, records: list[str], number: int, rounds: int, out: str) -> None:
    """Contradict and confirm in turn, each on some record, and note every acknowledged event."""
    acknowledged: list[str] = []
    ids = iter(range(10_000))
    for turn in range(rounds):
        address = records[(turn * 7 + number) % len(records)]
        for _ in range(1000):
            root = opening.cold(path)
            entry = root.find(address)
            assert entry
            change = Change(operation="confirm" if turn % 2 else "contradict", record=address)
            answer = decide(
                root, change, Actor("user", f"{number}-{turn}"), Policy(), 3, NOW, lambda: f"w{number}-{next(ids)}"
            )
            assert isinstance(answer, Accepted)
            written = writing.commit(path, answer.commit, patience=60)
            if isinstance(written, writing.Written):
                acknowledged += [event.id or "" for part in answer.commit.parts for event in part.events]
                break
            assert written.reason == "stale"
        else:
            raise AssertionError("never got through")
    Path(out).write_text("\n".join(acknowledged))


def test_of_many_writers_at_once_every_acknowledged_event_is_there_once_and_all_is_sealed(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    decided = drawn("".join(record(nick) for nick in "abcd"), tmp_path)
    addresses = list(decided.drawn.ids.values())
    processes = [
        get_context("fork").Process(
            target=decider, args=(decided.path, addresses, number, 40, str(tmp_path / f"out{number}"))
        )
        for number in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(90)
        assert process.exitcode == 0
    acknowledged = [name for number in range(4) for name in (tmp_path / f"out{number}").read_text().split("\n")]
    assert len(acknowledged) == len(set(acknowledged)) == 160
    there: list[str] = []
    root = decided.root
    for entry in root.entries.values():
        bundle = root.bundle(entry)
        assert bundle
        assert bundle.integrity == "sealed"
        assert not [problem for file in bundle.files.values() for problem in file.problems]
        there += [name for name in bundle.log.identities if name.startswith("w")]
    assert sorted(there) == sorted(acknowledged)
    record_property("decisions of 4 processes at once", len(acknowledged))


HOLD = """
import sys, time
from memidex.store import disk
with disk.holding(sys.argv[1], "memidex learn run.json"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_who_holds_the_lock_is_named_and_a_killed_holder_lets_go(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    commit = decision(decided, asked("confirm"))
    before = decided.files()
    with subprocess.Popen([sys.executable, "-c", HOLD, decided.path], stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        started = time.monotonic()
        answer = writing.commit(decided.path, commit, patience=0.3)
        assert time.monotonic() - started < 5
        assert isinstance(answer, Refused)
        assert answer.reason == "busy"
        assert f"memidex learn run.json (process {other.pid} on " in answer.message
        assert decided.files() == before
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert isinstance(writing.commit(decided.path, commit, patience=5), writing.Written)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_that_cannot_lock_is_refused(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import fcntl

    from memidex.cli.main import main

    decided = drawn(record("a"), tmp_path)
    commit = decision(decided, asked("confirm"))
    before = decided.files()

    def no_locks(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    answer = writing.commit(decided.path, commit, patience=0.2)
    assert isinstance(answer, Refused)
    assert answer.reason == "cannot-lock"
    assert main(["confirm", decided.drawn.ids["a"], "--root", decided.path]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "its file system cannot lock files" in said
    assert "[cannot-lock]" in said
    assert decided.files() == before


# What moved, and what may not be written ------------------------------------------------------------------------------


def test_a_record_that_moved_under_the_decision_is_refused(tmp_path: Path) -> None:
    decided = drawn(PROPOSAL, tmp_path)
    commit = decision(decided, asked("accept"))
    decided.do("contradict", "b")
    before = decided.files()
    answer = writing.commit(decided.path, commit)
    assert isinstance(answer, Refused)
    assert answer.reason == "stale"
    shutil.rmtree(decided.file("record.md", "b").parent)
    answer = writing.commit(decided.path, commit)
    assert isinstance(answer, Refused)
    assert answer.reason == "unknown-record"
    assert all(before[name] == data for name, data in decided.files().items())


@pytest.mark.parametrize(
    "place", ["../x", "memory/shop/bundles/..", "memory/shop/bundles/a/b", "/etc", "memory/shop/bundles/.x"]
)
def test_nothing_outside_the_bundles_is_ever_written(place: str, tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    part = Part(place=place, tail="0-e3b0c44298fc1c14", events=(Event(1, "user", "confirmed", id="x"),))
    answer = writing.commit(decided.path, Commit(parts=(part,)))
    assert isinstance(answer, Refused)
    answer = writing.commit(decided.path, Commit(removals=(Removal(place, "0-e3b0c44298fc1c14"),)))
    assert isinstance(answer, Refused)


@pytest.mark.parametrize("what", ["bundle", "evidence", "log", "product"])
def test_a_link_is_not_followed(what: str, tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    commit = decision(decided, asked("confirm"))
    bundle = decided.file("record.md").parent
    path = {"bundle": bundle, "evidence": bundle / "evidence", "log": bundle / LOG, "product": bundle.parent.parent}[
        what
    ]
    away = tmp_path / "away"
    path.rename(away)
    path.symlink_to(away)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    answer = writing.commit(decided.path, commit)
    assert isinstance(answer, Refused)
    assert {file: file.read_bytes() for file in before} == before


def test_a_read_only_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = drawn(record("a"), tmp_path)
    commit = decision(decided, asked("confirm"))
    disk.state_folder(decided.path)
    real = os.open

    def read_only(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "Read-only file system", path)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    answer = writing.commit(decided.path, commit, patience=0.2)
    assert isinstance(answer, Refused)
    assert answer.reason == "read-only"


def test_a_manifest_that_cannot_be_written_does_not_undo_the_event(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    manifest = decided.file("manifest.json")
    (manifest.parent / ".memidex-manifest.json.tmp").mkdir()
    commit = decision(decided, asked("confirm"))
    answer = writing.commit(decided.path, commit)
    assert isinstance(answer, writing.Written)
    assert answer.unsealed == (commit.parts[0].place,)
    assert decided.entry().standing.confirmed == 2
    assert decided.root.bundle(decided.entry()).integrity == "appended"  # type: ignore[union-attr]


def test_modes_of_files_stay(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    manifest = decided.file("manifest.json")
    manifest.chmod(0o640)
    decided.do("confirm")
    assert stat.S_IMODE(manifest.stat().st_mode) == 0o640


# Other writers' files -------------------------------------------------------------------------------------------------


def test_a_torn_line_stays_its_own_line_and_a_whole_one_without_its_end_counts(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    log = decided.file(LOG)
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"buildOrdinal":2,"origin":"user","type":"conf')
    decided.do("contradict")
    lines = log.read_bytes().split(b"\n")
    assert lines[2] == b'{"buildOrdinal":2,"origin":"user","type":"conf'
    assert json.loads(lines[3])["type"] == "contradicted"
    log.write_bytes(whole + b'{"buildOrdinal":2,"origin":"user","type":"confirmed"}')
    decided.do("contradict")
    assert (decided.entry().standing.confirmed, decided.entry().standing.contradicted) == (2, 1)


def shapes(files: dict[str, Any]) -> list[Any]:
    bare = {name: sealed["hash"] for name, sealed in files.items()}
    return [
        {"writer": {"name": "other"}, "files": files, "more": [1, 2]},
        {"files": bare},
        {"files": {name: f"sha256:{digest}" for name, digest in bare.items()}, "algorithm": "sha256"},
        {"files": [{"path": name, "sha256": digest} for name, digest in bare.items()]},
        {"files": [{"path": f"./{name}", "hash": sealed["hash"], "size": sealed["size"], "x": 1} for name, sealed in files.items()]},
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("indent", [None, 3])
def test_a_manifest_keeps_the_shape_and_every_other_byte_of_its_writer(
    number: int, indent: int | None, tmp_path: Path
) -> None:
    decided = drawn(record("a"), tmp_path)
    file = decided.file("manifest.json")
    shape = shapes(json.loads(file.read_text())["files"])[number]
    before = json.dumps(shape, indent=indent, sort_keys=number % 2 == 0) + "\r\n"
    file.write_bytes(before.encode())
    old = bundles.seal_of(decided_files(decided)).files[LOG]
    decided.do("confirm")
    new = bundles.seal_of(decided_files(decided)).files[LOG]
    after = file.read_bytes().decode()
    assert after.replace(new.hash, old.hash).replace(str(new.size), str(old.size)) == before
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]


def decided_files(decided: Decided) -> dict[str, bytes]:
    return {LOG: decided.file(LOG).read_bytes()}


@pytest.mark.parametrize("number", range(5))
def test_sealing_keeps_the_shape_and_what_else_the_manifest_says(number: int, tmp_path: Path) -> None:
    decided = drawn(record("a", more="-- a/notes.txt --\nmore\n"), tmp_path)
    file = decided.file("manifest.json")
    whole = json.loads(file.read_text())["files"]
    del whole["notes.txt"]
    whole["gone.txt"] = whole["record.md"]
    shape = shapes(whole)[number]
    file.write_text(json.dumps(shape))
    edited(decided)
    assert decided.root.bundle(decided.entry()).integrity == "edited"  # type: ignore[union-attr]
    decided.do("seal")
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]
    after = json.loads(file.read_text())
    assert {name: item for name, item in after.items() if name != "files"} == {
        name: item for name, item in shape.items() if name != "files"
    }
    assert type(after["files"]) is type(shape["files"])


def test_what_was_wrong_with_a_bundle_before_a_decision_is_wrong_after_it(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    edited(decided)
    decided.do("confirm")
    bundle = decided.root.bundle(decided.entry())
    assert bundle
    assert bundle.seals == (("record.md", "edited"),)
    log = decided.file(LOG)
    log.write_text(log.read_text().replace("a-1", "z-1"))
    decided.do("contradict")
    bundle = decided.root.bundle(decided.entry())
    assert bundle
    assert dict(bundle.seals) == {"record.md": "edited", LOG: "rewritten"}
    decided.do("seal")
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ['{"a": [], "derived-from": ["@b"]}', '[ {"target":"@b","type":"relates-to","ours":[1,  2]} ]', "absent"]
)
def test_relations_keep_their_shape_and_what_others_say_in_them(text: str, tmp_path: Path) -> None:
    how = " (absent)" if text == "absent" else ""
    decided = drawn(record("a") + f"-- a/relations.json{how} --\n{text}\n" + record("b"), tmp_path)
    file = decided.file("relations.json")
    before = file.read_text() if file.exists() else ""
    new = decided.do("supersede", **TEXT).record
    assert ("superseded-by", new) in [(item.type, item.target) for item in decided.entry().relations]
    decided.undo()
    if before:
        assert "  2" in before or json.loads(file.read_text())["a"] == []
        assert before.rstrip().rstrip("]}").rstrip() in file.read_text()
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]


def test_a_collected_mark_is_put_into_each_shape(tmp_path: Path) -> None:
    for number, text in enumerate(
        ['{"relations":[{"type":"supersedes","target":"z","x":1}]}', '{"supersedes": ["z"]}', '[{"type":"supersedes","target":"z"}]',
         '{\n  "relations": [\n    {\n      "type": "supersedes",\n      "target": "z"\n    }\n  ]\n}\n']
    ):  # fmt: skip
        decided = drawn(record("a") + f"-- a/relations.json --\n{text}\n", tmp_path / str(number))
        edit = RelationEdit("collect", Relation("supersedes", "z"))
        entry = decided.entry()
        place = entry.directory.removeprefix(decided.path + "/")
        commit = Commit(parts=(Part(place=place, tail=decided.tail(), relations=(edit,)),))
        assert isinstance(writing.commit(decided.path, commit), writing.Written)
        assert [(item.target, item.collected) for item in decided.entry().relations] == [("z", True)]


def test_another_tools_line_between_two_decisions_is_kept(tmp_path: Path) -> None:
    decided = drawn(record("a"), tmp_path)
    decided.do("contradict")
    with decided.file(LOG).open("a") as log:
        log.write('{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed","extra":{"kept":true}}\n')
    assert reason(decided.decide("forget", seen="0-x")) == "stale"
    decided.do("forget")
    assert b'"extra":{"kept":true}' in decided.file(LOG).read_bytes()
    assert decided.entry().standing.confirmed == 2
