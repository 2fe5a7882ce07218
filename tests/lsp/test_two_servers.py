"""Two servers and two processes decide at once on one root: each acknowledged event is there once, and all see the same."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from editor_client import COMMAND, VSCODE, Editor, merged
from readings import fresh, shown

from memidex import desk
from memidex.history.change import Actor, Change, Policy, Refused
from memidex.learning.decide import undo
from memidex.store import disk, opening
from sketch import Sketch, sketch

KNOWS = merged(VSCODE, {"experimental": {"memidex": True}})
LOOKS_ITSELF = {"experimental": {"memidex": True}}
"""What a client can that does not watch: the server looks by itself what changed."""
LOG = "evidence/outcomes.jsonl"
NICKS = "abcdefgh"
TEXT = "".join(f"-- {nick}/record.md --\n" for nick in NICKS)
OPERATIONS = ("confirm", "contradict", "retract")
PER_SERVER, PER_PROCESS = 160, 350
AT_ONCE = 4
"""Decisions that an editor asks for before the first is answered."""


def worker(path: str, number: int, wanted: int, out: str) -> None:
    """What the command line does, in one process: decide `wanted` times, and note every acknowledged event."""
    acknowledged: list[str] = []
    done = turn = 0
    chance = random.Random(number)
    root = opening.cold(path)
    names = sorted(root.entries)
    while done < wanted:
        turn += 1
        folder = chance.choice(names)
        root = opening.refreshed(root, [folder])
        operation: Any = chance.choice(OPERATIONS)
        change: Change | None = Change(operation=operation, record=folder, note=f"process {number}")
        if operation == "retract":
            entry = root.find(folder)
            assert entry
            change = undo(root, entry)
            if change is None:
                continue
        assert change
        outcome = desk.ask(root, change, Actor("user", f"process-{number}-{turn}"), Policy())
        root = outcome.root
        if isinstance(outcome.answer, Refused):
            assert outcome.answer.reason in ("stale", "busy", "already-so"), outcome.answer
            continue
        acknowledged += [event.id or "" for part in outcome.answer.commit.parts for event in part.events]
        done += 1
    Path(out).write_text("\n".join(acknowledged))


def decide(editor: Editor, made: Sketch, number: int, wanted: int, answers: list[Any]) -> None:
    """Ask one server for decisions, some at once, until so many were written."""
    chance = random.Random(100 + number)
    turn = done = 0
    while done < wanted:
        begun: list[int] = []
        for _ in range(AT_ONCE):
            turn += 1
            argument = {"id": made.ids[chance.choice(NICKS)], "note": f"editor {number}-{turn}"}
            command = f"memidex.{chance.choice(OPERATIONS)}"
            begun.append(editor.begin("workspace/executeCommand", {"command": command, "arguments": [argument]}))
        for request in begun:
            answer = editor.response(request, 60)
            answers.append(answer.get("result") or answer)
            done += "result" in answer and "refused" not in answer["result"]


def server(name: str, folder: Path, capabilities: Any) -> Editor:
    return Editor(folder, capabilities=capabilities, command=("env", f"MEMIDEX_ACTOR={name}", *COMMAND))


def logs(made: Sketch) -> tuple[Counter[str], list[Any]]:
    """How often each event is in the logs, every line of which is whole, and the events."""
    events: list[Any] = []
    for nick in made.ids:
        data = made.path(LOG, nick).read_bytes()
        assert data.endswith(b"\n")
        events += [json.loads(line) for line in data.splitlines()]
    return Counter(event["id"] for event in events), events


def integrity(made: Sketch) -> Counter[str]:
    root = opening.cold(made.root.as_posix())
    found: Counter[str] = Counter()
    for entry in root.entries.values():
        bundle = root.bundle(entry)
        assert bundle
        assert not [problem for file in bundle.files.values() for problem in file.problems]
        found[bundle.integrity] += 1
    return found


def same(made: Sketch, watches: Editor, looks: Editor) -> None:
    """Both servers show what is read anew: the one after its client told it what moved, the other by itself."""
    expected = fresh(made.root)
    watches.changed(*(made.path(name, nick) for nick in NICKS for name in (LOG, "manifest.json")))
    for editor in (watches, looks):
        editor.until(lambda editor=editor: shown(editor) == expected, 30)


def test_two_servers_and_two_processes_decide_at_once_and_nothing_is_lost(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    made = sketch(TEXT, tmp_path)
    root = made.root.as_posix()
    before, _ = logs(made)
    outs = [tmp_path / f"out{number}" for number in range(2)]
    processes = [
        get_context("fork").Process(target=worker, args=(root, number, PER_PROCESS, str(out)))
        for number, out in enumerate(outs)
    ]
    for process in processes:  # before any thread of ours is there
        process.start()
    answers: list[list[Any]] = [[], []]
    with server("one", tmp_path, KNOWS) as one, server("two", tmp_path, LOOKS_ITSELF) as two:
        threads = [
            threading.Thread(target=decide, args=(editor, made, number, PER_SERVER, answers[number]))
            for number, editor in enumerate((one, two))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
            assert not thread.is_alive()
        for process in processes:
            process.join(60)
            assert process.exitcode == 0
        there, events = logs(made)
        assert set(there.values()) == {1}
        of_processes = [event for out in outs for event in out.read_text().split("\n")]
        assert len(of_processes) == len(set(of_processes))
        written = [answer for found in answers for answer in found if "refused" not in answer]
        assert not [answer for answer in written if "error" in answer]
        refusals = Counter(answer["refused"] for found in answers for answer in found if "refused" in answer)
        assert set(refusals) <= {"stale", "busy", "nothing-to-undo", "already-so"}
        # Whatever was added was acknowledged, once: by a process, by its id, or by a server, as often as it said so.
        added = set(there) - set(before)
        assert added >= set(of_processes)
        of_servers = [event for event in events if event["id"] in added - set(of_processes)]
        assert len(of_servers) == len(written)
        notes = Counter(event["note"] for event in of_servers if "note" in event)
        assert all(count == 1 for count in notes.values())
        assert set(integrity(made)) <= {"sealed", "appended"}
        same(made, one, two)
        for nick in NICKS:
            editor = one if nick < "e" else two
            last: list[Any] = []
            for operation in ("confirm", "contradict"):  # of the two one is said for the first time
                argument = {"id": made.ids[nick], "note": "the last"}
                last.append(
                    editor.request(
                        "workspace/executeCommand", {"command": f"memidex.{operation}", "arguments": [argument]}
                    )
                )
            assert any("refused" not in answer for answer in last), last
        assert set(integrity(made)) == {"sealed"}
        same(made, one, two)
    record_property("decisions of 2 servers and 2 processes at once", len(written) + len(of_processes))
    print(len(written), len(of_processes), refusals)


SLOW = """
import sys, time
from memidex.cli.main import main
from memidex.store import disk
def append_lines(path, data):
    open(sys.argv[1], "w").close()
    time.sleep(120)
disk.append_lines = append_lines
main(["lsp", "--stdio"])
"""
"""A server that does not come to the end of the first line that it writes."""


@pytest.mark.parametrize("operation", ["confirm", "accept"])
def test_a_server_that_is_killed_while_it_holds_the_lock_lets_the_others_go_on(operation: str, tmp_path: Path) -> None:
    candidate = f'-- {LOG} --\n{{"buildOrdinal":1,"id":"a-1","origin":"agent-verified","type":"confirmed"}}\n'
    text = "-- record.md --\n" + (candidate if operation == "accept" else "")
    made = sketch(text, tmp_path)
    mark = tmp_path / "holds"
    with (
        Editor(tmp_path, capabilities=KNOWS, command=(sys.executable, "-c", SLOW, str(mark))) as one,
        Editor(tmp_path, capabilities=KNOWS) as two,
    ):
        wanted = {"command": f"memidex.{operation}", "arguments": [{"id": made.ids["a"]}]}
        assert shown(two) == fresh(made.root)
        before = made.path(LOG).read_bytes()
        one.begin("workspace/executeCommand", wanted)
        one.until(mark.exists)
        assert "memidex" in disk.holder(made.root.as_posix())
        waiting = two.begin("workspace/executeCommand", wanted)
        time.sleep(0.3)
        assert made.path(LOG).read_bytes() == before
        os.kill(one.process.pid, signal.SIGKILL)
        killed = time.monotonic()
        answer = two.response(waiting)["result"]
        assert time.monotonic() - killed < 10
        # The one that was killed had put two events down in its journal: they were decided, and are finished first.
        expected = {"confirm": {None}, "accept": {"already-so"}}[operation]
        assert answer.get("refused") in expected, answer
        there, events = logs(made)
        assert set(there.values()) == {1}
        assert Counter(event["type"] for event in events)["promoted"] == 1
        assert integrity(made) == {"sealed": 1}
        two.until(lambda: shown(two) == fresh(made.root))
