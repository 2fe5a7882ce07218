"""What may not be written to: refused by name with nothing written, in the library and on the command line.

Who runs the tests may be root, who may write everything: a child gives up being root first.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from deciding import LOG, MIRA, NEXT, NOW, TEXT, Decided, drawn, record, related
from memidex.cli.main import main
from memidex.history.change import Change, Policy
from memidex.learning.decide import Accepted, decide
from memidex.store import disk, writing
from memidex.store.commit import Commit

NOBODY = 65534
PROPOSAL = record("a", "candidate") + related("a", "proposed-supersession-of", "b") + record("b")
CHANGES = {
    "confirm": (record("a"), "confirm", {}),
    "accept": (record("a", "candidate"), "accept", {}),
    "supersede": (record("a"), "supersede", TEXT),
    "accept a proposal": (PROPOSAL, "accept", {}),
    "accept a policy": (record("a", "candidate", "policy"), "accept", {}),
}
PLACES: dict[str, Callable[[Decided], Path]] = {
    "the root": lambda decided: Path(decided.path),
    "the state": lambda decided: Path(decided.path, ".memidex"),
    "the lock": lambda decided: Path(decided.path, ".memidex", "lock"),
    "the journal": lambda decided: Path(decided.path, ".memidex", "journal", "change"),
    "the bundle": lambda decided: decided.file("record.md").parent,
    "the log": lambda decided: decided.file(LOG),
    "the other bundle": lambda decided: decided.file("record.md", "b").parent,
    "the other log": lambda decided: decided.file(LOG, "b"),
    "the bundles": lambda decided: decided.file("record.md").parent.parent,
}
REFUSED = [
    ("confirm", "the root"),
    ("confirm", "the state"),
    ("confirm", "the lock"),
    ("confirm", "the bundle"),
    ("confirm", "the log"),
    ("accept", "the journal"),
    ("supersede", "the bundle"),
    ("supersede", "the log"),
    ("supersede", "the bundles"),
    ("accept a proposal", "the other bundle"),
    ("accept a proposal", "the other log"),
    ("accept a policy", "the root"),
]


@pytest.fixture
def folder() -> Generator[Path]:
    """A folder that anybody may enter, which those of pytest are not."""
    path = Path(tempfile.mkdtemp(prefix="memidex-"))
    path.chmod(0o755)
    yield path
    for here in (path, *path.rglob("*")):
        if here.is_dir():
            here.chmod(0o755)
    shutil.rmtree(path)


def as_nobody(action: Callable[[], str]) -> str:
    """What an action says in a child that is nobody in particular."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            said = action()
        except BaseException as error:
            said = f"fault {error!r}"
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    if said.startswith("fault PermissionError") and "setgroups" in said:
        pytest.skip("root here can become nobody else")
    return said


def given_away(decided: Decided) -> None:
    if os.geteuid() == 0:
        for path in (Path(decided.path), *Path(decided.path).rglob("*")):
            os.chown(path, NOBODY, NOBODY)


def commit_of(decided: Decided, operation: str, more: dict[str, str]) -> Commit:
    root = decided.root
    change = Change(operation=operation, record=decided.drawn.ids["a"], **more)  # type: ignore[arg-type]
    answer = decide(root, change, MIRA, Policy(), root.product("shop").current, NOW, NEXT)
    assert isinstance(answer, Accepted)
    return answer.commit


def commanded(arguments: list[str], out: Path) -> str:
    """The exit code of a command and what it printed to its error output."""
    handle = os.open(out, os.O_RDWR | os.O_TRUNC)
    sys.stderr = os.fdopen(handle, "w")
    code = main(arguments)
    sys.stderr.flush()
    return f"{code} {out.read_text()}"


@pytest.mark.parametrize(("what", "place"), REFUSED)
def test_what_may_not_be_written_to_is_refused_by_name_and_nothing_is_written(
    what: str, place: str, folder: Path
) -> None:
    text, operation, more = CHANGES[what]
    decided = drawn(text, folder)
    commit = commit_of(decided, operation, more)
    out = folder / "said"
    out.touch()
    out.chmod(0o666)
    if place not in ("the root", "the state") or what == "accept a policy":
        with disk.holding(decided.path, "before"):
            disk.write_journal(decided.path, b"")
    elif place == "the state":
        disk.state_folder(decided.path)
    arguments = [operation, decided.drawn.ids["a"], "--root", decided.path]
    arguments += [word for name, value in more.items() for word in (f"--{name}", value)]
    assert main([*arguments, "--dry-run"]) == 0  # what a command imports may be closed to nobody
    if place == "the root" and what == "confirm":
        shutil.rmtree(Path(decided.path, ".memidex"))
    given_away(decided)
    closed = PLACES[place](decided)
    mode = closed.stat().st_mode
    closed.chmod(0o500 if closed.is_dir() else 0o400)
    before = decided.files()

    def told() -> str:
        answer = writing.commit(decided.path, commit, patience=2)
        return "written" if isinstance(answer, writing.Written) else f"{answer.reason}: {answer.message}"

    said = as_nobody(told)
    assert said.startswith("read-only: "), said
    assert closed.name in said
    said = as_nobody(lambda: commanded(arguments, out))
    assert said.startswith("1 memidex: "), said
    assert said.endswith("[read-only]\n")
    assert said.count("\n") == 1
    assert decided.files() == before
    closed.chmod(mode)
    assert as_nobody(told) == "written"  # nothing was left behind that stands in the way
    assert decided.root.bundle(decided.entry()).integrity == "sealed"  # type: ignore[union-attr]


def test_who_may_not_write_reads_all_the_same(folder: Path) -> None:
    decided = drawn(record("a"), folder)
    given_away(decided)
    Path(decided.path).chmod(0o500)
    assert main(["inspect", "--root", decided.path]) == 0
    shutil.rmtree(Path(decided.path, ".memidex"), ignore_errors=True)
    out = folder / "said"
    out.touch()
    out.chmod(0o666)
    said = as_nobody(lambda: commanded(["inspect", "--root", decided.path], out))
    assert said.startswith("0 ")
