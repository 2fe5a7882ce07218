"""Two branches that both decide are merged by real git, with the driver or by the fixes of what git leaves without it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command import inside

from deciding import LOG, THREE
from memidex.rules import engine
from memidex.store import opening
from memidex.text import Edit, apply, decode
from sketch import Sketch, sketch

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(folder: Path, *arguments: str, code: int | None = 0) -> str:
    names = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    own = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
    done = subprocess.run(["git", *names, *arguments], cwd=folder, env=own, capture_output=True, text=True, check=False)
    assert code is None or done.returncode == code, done
    return done.stdout


@pytest.fixture
def plain(tmp_path: Path) -> Sketch:
    """A repository with three records and no driver."""
    drawn = sketch(THREE, tmp_path)
    (drawn.root / ".memidex").mkdir(exist_ok=True)
    (drawn.root / ".memidex" / ".gitignore").write_text("*\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    return drawn


@pytest.fixture
def drawn(plain: Sketch, tmp_path: Path) -> Sketch:
    """The same with the driver."""
    assert inside(tmp_path, "git-setup").code == 0
    commit(tmp_path)
    return plain


def commit(folder: Path, message: str = "m") -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


def decide(drawn: Sketch, *arguments: str) -> None:
    named = [drawn.ids.get(word.removeprefix("@"), word) if word.startswith("@") else word for word in arguments]
    done = inside(drawn.root.parent, *named)
    assert done.code == 0, done


def branches(drawn: Sketch, one: Callable[[], None], other: Callable[[], None]) -> None:
    """`other` on a branch of its own, `one` on main, which is left checked out."""
    folder = drawn.root.parent
    git(folder, "checkout", "-q", "-b", "other")
    other()
    commit(folder, "other")
    git(folder, "checkout", "-q", "main")
    one()
    commit(folder, "one")


def standing(drawn: Sketch) -> dict[str, object]:
    root = opening.cold(drawn.root.as_posix())
    return {
        entry.id: (
            entry.standing.status,
            entry.standing.trust,
            {(item.type, item.target) for item in entry.relations},
        )
        for entry in root.entries.values()
    }


def events_once(drawn: Sketch) -> None:
    for path in drawn.root.rglob("outcomes.jsonl"):
        ids = [json.loads(line)["id"] for line in path.read_text().splitlines()]
        assert len(ids) == len(set(ids))


def states(drawn: Sketch, code: int = 0) -> set[str]:
    done = inside(drawn.root.parent, "verify", "--format", "json")
    assert done.code == code, done
    return {row["integrity"] for row in done.json["bundles"]}


PAIRS = [
    ([["accept", "@a"]], [["contradict", "@a"]]),
    ([["contradict", "@a"]], [["accept", "@a"]]),
    ([["confirm", "@b"]], [["accept", "@c"]]),
    ([["contradict", "@a"], ["contradict", "@c"]], [["accept", "@c"], ["confirm", "@a"]]),
    ([["confirm", "@b"]], [["supersede", "@b", "--summary", "it is called Buy", "--detail", "Seen."]]),
    ([["confirm", "@b"]], [["supersede", "@b", "--by", "@a"]]),
]


@pytest.mark.parametrize("how", ["merge", "rebase", "cherry-pick"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_deciding_on_two_branches_comes_to_what_deciding_in_sequence_does(
    first: list[list[str]], second: list[list[str]], how: str, drawn: Sketch, tmp_path: Path
) -> None:
    branches(drawn, lambda: all_of(drawn, second), lambda: all_of(drawn, first))
    logs = {branch: logs_of(tmp_path, branch) for branch in ("main", "other")}
    start = git(tmp_path, "merge-base", "main", "other").strip()
    git(tmp_path, how, *(["-q", "--no-edit"] if how == "merge" else []), "other")
    assert git(tmp_path, "status", "--porcelain") == ""
    events_once(drawn)
    assert states(drawn) == {"sealed"}
    merged, held = standing(drawn), logs_of(tmp_path, "HEAD")
    for before in logs.values():
        assert all(lines <= held[name] for name, lines in before.items())
    git(tmp_path, "checkout", "-q", "-b", "sequence", start)
    all_of(drawn, first)
    all_of(drawn, second)
    assert standing(drawn) == merged


def all_of(drawn: Sketch, decisions: list[list[str]]) -> None:
    for words in decisions:
        decide(drawn, *words)


def logs_of(folder: Path, branch: str) -> dict[str, set[str]]:
    names = git(folder, "ls-tree", "-r", "--name-only", branch).splitlines()
    return {name: set(git(folder, "show", f"{branch}:{name}").splitlines()) for name in names if name.endswith(LOG)}


def test_relations_that_both_branches_edit_are_sealed_as_they_are_merged(drawn: Sketch, tmp_path: Path) -> None:
    branches(drawn, lambda: decide(drawn, "supersede", "@b", "--by", "@a"), lambda: decide(drawn, "accept", "@c"))
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    events_once(drawn)
    assert states(drawn) == {"sealed"}
    root = opening.cold(drawn.root.as_posix())
    entry = root.find(drawn.ids["b"])
    assert entry
    assert {item.target for item in entry.relations} == {drawn.ids["a"], drawn.ids["c"]}
    third = root.find(drawn.ids["c"])
    assert third
    assert [item.type for item in third.relations] == ["supersedes"]


def test_a_log_that_one_side_only_appended_to_comes_behind_the_one_that_is_sealed(
    drawn: Sketch, tmp_path: Path
) -> None:
    def append() -> None:
        with drawn.path(LOG).open("a") as file:
            file.write('{"buildOrdinal":3,"origin":"agent-verified","type":"helpful","id":"agent"}\n')

    branches(drawn, append, lambda: decide(drawn, "accept", "@a"))
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    assert states(drawn) == {"sealed", "appended"}
    events_once(drawn)


def test_what_was_edited_by_hand_on_a_side_stays_told(drawn: Sketch, tmp_path: Path) -> None:
    def both() -> None:
        decide(drawn, "supersede", "@b", "--by", "@a")
        path = drawn.path("relations.json", "b")
        path.write_text(path.read_text().replace("atOrdinal", "ordinalAt"))

    branches(drawn, both, lambda: decide(drawn, "accept", "@c"))
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    assert "edited" in states(drawn, 1)


def test_the_ledgers_of_two_branches_are_put_together(drawn: Sketch, tmp_path: Path) -> None:
    ledger = drawn.path("runs.jsonl")

    def run(name: str) -> Callable[[], None]:
        return lambda: ledger.write_text(ledger.read_text() + f'{{"ordinal":4,"run":"{name}"}}\n')

    branches(drawn, run("x"), run("y"))
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    assert [json.loads(line)["run"] for line in ledger.read_text().splitlines()[3:]] == ["x", "y"]


def test_a_root_may_lie_in_a_folder_of_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "ä 'b' $c"
    folder.mkdir()
    drawn = sketch(THREE, folder)
    git(tmp_path, "init", "-q", "-b", "main")
    (drawn.root / ".memidex").mkdir(exist_ok=True)
    (drawn.root / ".memidex" / ".gitignore").write_text("*\n")
    assert inside(folder, "git-setup").code == 0
    git(tmp_path, "add", "-A")
    commit(folder)
    branches(drawn, lambda: decide(drawn, "supersede", "@b", "--by", "@a"), lambda: decide(drawn, "accept", "@c"))
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    assert states(drawn) == {"sealed"}


def test_a_stash_is_merged_too(drawn: Sketch, tmp_path: Path) -> None:
    decide(drawn, "supersede", "@b", "--by", "@a")
    git(tmp_path, "stash")
    decide(drawn, "accept", "@c")
    commit(tmp_path)
    git(tmp_path, "stash", "pop")
    events_once(drawn)
    assert states(drawn) == {"sealed"}


def test_what_cannot_be_told_is_left_with_the_markers_of_git(drawn: Sketch, tmp_path: Path) -> None:
    path = drawn.path("relations.json")

    def say(text: str) -> Callable[[], None]:
        return lambda: [None, path.write_text(text)][0]

    branches(drawn, say('{"relations":[],"x":1}\n'), say('{"relations":[],"x":2}\n'))
    git(tmp_path, "merge", "-q", "--no-edit", "other", code=1)
    assert path.read_text().startswith("<<<<<<< ours\n")


def append(drawn: Sketch, name: str, nick: str = "a") -> None:
    """Another tool adds an event, and seals nothing."""
    with drawn.path(LOG, nick).open("a") as file:
        file.write(f'{{"buildOrdinal":3,"origin":"agent-verified","type":"helpful","id":"{name}"}}\n')


def integrities(drawn: Sketch) -> set[str]:
    done = inside(drawn.root.parent, "verify", "--format", "json")
    return {row["integrity"] for row in done.json["bundles"]}


def loud_or_sound(drawn: Sketch, top: Path) -> None:
    """Either git says that it could not merge, or nothing looks as if history had been changed, and no event is lost."""
    if git(top, "status", "--porcelain") == "":
        assert "rewritten" not in integrities(drawn)
        held = drawn.path(LOG).read_text()
        assert all(word in held for word in ("agent", "promoted"))
    else:
        assert "<<<<<<<" in drawn.path(LOG).read_text()


@pytest.mark.parametrize("how", ["merge", "rebase", "cherry-pick"])
def test_a_log_whose_manifest_was_sealed_later_than_it_was_written_is_not_taken_for_rewritten(
    how: str, drawn: Sketch, tmp_path: Path
) -> None:
    append(drawn, "before")
    commit(tmp_path, "written")
    data, manifest = drawn.path(LOG).read_bytes(), drawn.path("manifest.json")
    whole = json.loads(manifest.read_text())
    whole["files"][LOG] = {"hash": hashlib.sha256(data).hexdigest(), "size": len(data)}
    manifest.write_text(json.dumps(whole, indent=2) + "\n")
    commit(tmp_path, "sealed")
    assert states(drawn) == {"sealed"}
    branches(drawn, lambda: append(drawn, "agent"), lambda: decide(drawn, "accept", "@a"))
    git(tmp_path, how, *(["--no-edit"] if how == "merge" else []), "other", code=None)
    loud_or_sound(drawn, tmp_path)


def test_a_pick_of_a_commit_that_no_branch_has_is_sound(drawn: Sketch, tmp_path: Path) -> None:
    clone = tmp_path.parent / f"{tmp_path.name}-clone"
    git(tmp_path, "clone", "-q", ".", str(clone))
    there = replace(drawn, root=clone / drawn.root.name)
    decide(there, "accept", "@a")
    commit(clone, "accepted")
    append(drawn, "agent")
    commit(tmp_path, "appended")
    git(tmp_path, "fetch", "-q", str(clone), "main")
    git(tmp_path, "cherry-pick", "FETCH_HEAD", code=None)
    loud_or_sound(drawn, tmp_path)


def test_a_patch_of_which_git_knows_no_commit_is_loud_or_sound(drawn: Sketch, tmp_path: Path) -> None:
    branches(drawn, lambda: append(drawn, "agent"), lambda: decide(drawn, "accept", "@a"))
    patch = tmp_path.parent / f"{tmp_path.name}.patch"
    patch.write_text(git(tmp_path, "format-patch", "-q", "-1", "--stdout", "other"))
    git(tmp_path, "branch", "-q", "-D", "other")
    git(tmp_path, "reflog", "expire", "--expire=now", "--all")
    git(tmp_path, "am", "-3", str(patch), code=None)
    loud_or_sound(drawn, tmp_path)


@pytest.mark.parametrize("how", ["merge", "rebase"])
def test_a_root_that_one_side_moved_is_loud_or_sound(how: str, drawn: Sketch, tmp_path: Path) -> None:
    moved = replace(drawn, root=tmp_path / "knowledge")

    def move() -> None:
        git(tmp_path, "mv", drawn.root.name, "knowledge")
        shutil.rmtree(drawn.root, ignore_errors=True)
        append(moved, "agent")

    branches(drawn, move, lambda: decide(drawn, "accept", "@a"))
    git(tmp_path, how, *(["--no-edit"] if how == "merge" else []), "other", code=None)
    loud_or_sound(moved, tmp_path)


def test_a_driver_that_cannot_write_leaves_a_conflict_and_no_torn_file(drawn: Sketch, tmp_path: Path) -> None:
    path = drawn.path("relations.json", "b")
    rows = [{"type": "relates-to", "target": f"t{number}"} for number in range(40)]
    path.write_text(json.dumps({"relations": rows}, indent=2) + "\n")
    commit(tmp_path)
    own = git(tmp_path, "config", "merge.memidex.driver").strip()
    # A file of at most one block may be written: as on a full disk, in the midst of it.
    git(tmp_path, "config", "merge.memidex.driver", own.replace(" merge-driver", ' "$@" merge-driver').replace(own.split()[0], f"(ulimit -f 1; {own.split()[0]}", 1).replace(" && exit 0", ") 2>/dev/null && exit 0", 1).replace(' "$@"', ""))  # fmt: skip
    before = path.read_text()

    def change(number: int) -> Callable[[], None]:
        return lambda: [None, path.write_text(before.replace(f'"t{number}"', f'"t{number}", "x": 1'))][0]

    branches(drawn, change(20), change(2))
    git(tmp_path, "merge", "-q", "--no-edit", "other", code=None)
    after = path.read_text()
    assert all(f'"t{number}"' in after for number in range(40))
    assert "<<<<<<<" in after or json.loads(after)


def test_what_takes_lines_of_a_log_away_is_not_merged_by_itself(drawn: Sketch, tmp_path: Path) -> None:
    decide(drawn, "supersede", "@b", "--by", "@a")
    commit(tmp_path, "superseded")
    name = git(tmp_path, "rev-parse", "HEAD").strip()
    append(drawn, "agent", "b")
    commit(tmp_path, "appended")
    git(tmp_path, "revert", "--no-edit", name, code=1)
    assert "<<<<<<<" in drawn.path(LOG, "b").read_text()


def test_a_secret_that_one_side_took_out_of_a_log_does_not_come_back_silently(drawn: Sketch, tmp_path: Path) -> None:
    path = drawn.path(LOG)
    path.write_text(path.read_text().replace('"id":"a-1"', '"id":"a-1","note":"hunter2"'))
    commit(tmp_path, "a secret")
    told = path.read_text()
    branches(drawn, lambda: [None, path.write_text(told.replace("hunter2", "***"))][0], lambda: decide(drawn, "contradict", "@a"))  # fmt: skip
    git(tmp_path, "merge", "-q", "--no-edit", "other", code=None)
    if git(tmp_path, "status", "--porcelain") == "":
        assert "hunter2" not in path.read_text()
    else:
        assert "<<<<<<<" in path.read_text()


def test_a_folder_may_begin_with_a_hyphen(tmp_path: Path) -> None:
    folder = tmp_path / "-x"
    folder.mkdir()
    drawn = sketch(THREE, folder)
    (drawn.root / ".memidex").mkdir(exist_ok=True)
    (drawn.root / ".memidex" / ".gitignore").write_text("*\n")
    git(tmp_path, "init", "-q", "-b", "main")
    assert inside(tmp_path, "git-setup").code == 0
    commit(tmp_path)
    branches(drawn, lambda: decide(drawn, "supersede", "@b", "--by", "@a"), lambda: decide(drawn, "accept", "@c"))
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    assert states(drawn) == {"sealed"}


# Without the driver ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
@pytest.mark.parametrize(
    ("first", "second"),
    [*PAIRS[2:], ([["accept", "@a"]], [["confirm", "@a"]]), ([["accept", "@c"]], [["supersede", "@b", "--by", "@a"]])],
)
def test_the_fixes_of_the_markers_give_what_the_driver_gives(
    first: list[list[str]], second: list[list[str]], style: str, plain: Sketch, tmp_path: Path
) -> None:
    branches(plain, lambda: all_of(plain, second), lambda: all_of(plain, first))
    tip = git(tmp_path, "rev-parse", "main").strip()
    git(tmp_path, "-c", f"merge.conflictStyle={style}", "merge", "-q", "--no-edit", "other", code=None)
    mend(plain)
    fixed = contents(plain)
    assert states(plain) == {"sealed"}
    git(tmp_path, "reset", "-q", "--hard", tip)
    inside(tmp_path, "git-setup")
    git(tmp_path, "merge", "-q", "--no-edit", "other")
    assert contents(plain) == fixed


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_the_fixes_seal_no_edit_by_hand(style: str, plain: Sketch, tmp_path: Path) -> None:
    def both() -> None:
        decide(plain, "supersede", "@b", "--by", "@a")
        path = plain.path("relations.json", "b")
        path.write_text(path.read_text().replace("atOrdinal", "ordinalAt"))

    branches(plain, both, lambda: decide(plain, "accept", "@c"))
    git(tmp_path, "-c", f"merge.conflictStyle={style}", "merge", "-q", "--no-edit", "other", code=1)
    mend(plain)
    assert "edited" in states(plain, 1)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_relation_that_one_side_took_away_is_not_brought_back_by_the_preferred_fix(
    style: str, plain: Sketch, tmp_path: Path
) -> None:
    path = plain.path("relations.json", "b")

    def say(*nicks: str) -> Callable[[], None]:
        rows = [{"type": "relates-to", "target": plain.ids[nick]} for nick in nicks]
        return lambda: [None, path.write_text(json.dumps({"relations": rows}, indent=2) + "\n")][0]

    say("a")()
    commit(tmp_path)
    branches(plain, say(), say("a", "c"))
    git(tmp_path, "-c", f"merge.conflictStyle={style}", "merge", "-q", "--no-edit", "other", code=1)
    root = opening.cold(plain.root.as_posix())
    entry = root.find(plain.ids["b"])
    assert entry
    found = [finding for finding in engine.check_entry(entry, root) if finding.rule.name == "conflict-markers"]
    assert found
    assert [fix.preferred for finding in found for fix in finding.fixes[:1]] == [style == "diff3"]
    if style == "diff3":
        mend(plain)
        after = opening.cold(plain.root.as_posix()).find(plain.ids["b"])
        assert after
        assert {item.target for item in after.relations} == {plain.ids["c"]}


def mend(drawn: Sketch) -> None:
    """Apply the preferred fix of each record's first conflict, as an editor does, until there is none."""
    for _ in range(9):
        root = opening.cold(drawn.root.as_posix())
        found = [
            finding
            for entry in root.entries.values()
            for finding in engine.check_entry(entry, root)
            if finding.rule.name == "conflict-markers"
        ]
        if not found:
            return
        fix = found[0].fixes[0]
        assert fix.preferred
        for edit in fix.edits:
            path = Path(edit.path)
            path.write_bytes(apply(decode(path.read_bytes())[0], [Edit(edit.span, edit.text)]).encode())
    raise AssertionError("the fixes do not mend")


def contents(drawn: Sketch) -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in (drawn.root / "memory").rglob("*") if path.is_file()}


# Setting up -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [None, b"", b"*.png binary\n", b"*.png binary", b"a text\r\nb text\r\n"])
def test_setting_up_is_done_once_and_taken_back_to_the_byte(before: bytes | None, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    config = (tmp_path / ".git/config").read_bytes()
    path = tmp_path / ".gitattributes"
    if before is not None:
        path.write_bytes(before)
    done = inside(tmp_path, "git-setup", "--format", "json")
    assert done.json == {"version": 1, "installed": True, "changed": True, "attributes": ".gitattributes"}
    after = path.read_bytes()
    assert after.startswith(before or b"")
    assert inside(tmp_path, "git-setup", "--format", "json").json["changed"] is False
    assert path.read_bytes() == after
    path.write_bytes(after + b"c text\n")
    assert inside(tmp_path, "git-setup").out == "It is set up already.\n"
    path.write_bytes(after)
    assert inside(tmp_path, "git-setup", "--remove").code == 0
    assert (path.read_bytes() if path.exists() else None) == (before or None)
    assert (tmp_path / ".git/config").read_bytes() == config
    assert "no merge driver" in inside(tmp_path, "git-setup", "--remove").out


@pytest.mark.parametrize("ends", [True, False])
def test_lines_of_others_among_ours_stay(ends: bool, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    path = tmp_path / ".gitattributes"
    assert inside(tmp_path, "git-setup").code == 0
    ours = path.read_text()
    rows = ours.splitlines(keepends=True)
    path.write_text("".join(rows[:3]) + "*.png binary\n" + "".join(rows[3:] if ends else rows[3:-1]) + "*.gif binary\n")
    for _ in range(2):
        assert inside(tmp_path, "git-setup").code == 0
        text = path.read_text()
        assert text.count("*.png binary\n") == text.count("*.gif binary\n") == 1
        assert all(row in text for row in rows)
    inside(tmp_path, "git-setup", "--remove")
    assert "*.png binary\n" in path.read_text()
    assert "*.gif binary\n" in path.read_text()


def test_what_another_put_beside_the_driver_stays(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    inside(tmp_path, "git-setup")
    git(tmp_path, "config", "merge.memidex.recursive", "binary")
    inside(tmp_path, "git-setup", "--remove")
    assert git(tmp_path, "config", "--get", "merge.memidex.recursive").strip() == "binary"
    assert git(tmp_path, "config", "--get", "merge.memidex.driver", code=1) == ""


def test_setting_up_from_a_work_tree_of_its_own(drawn: Sketch, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(tmp_path, "worktree", "add", "-q", str(tree))
    inside(tree, "git-setup", "--remove")
    done = inside(tree / "agent-qa-knowledge", "git-setup")
    assert done.code == 0, done
    assert "merge=memidex" in (tree / ".gitattributes").read_text()


def test_outside_of_a_repository_and_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    done = inside(tmp_path, "git-setup")
    assert (done.code, done.out) == (2, "")
    assert "not a git repository" in done.err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert inside(tmp_path, "git-setup").err == "memidex: git is not installed, or not on the path\n"


def test_where_memidex_is_gone_git_merges_as_text(drawn: Sketch, tmp_path: Path) -> None:
    command = git(tmp_path, "config", "merge.memidex.driver").strip()
    git(tmp_path, "config", "merge.memidex.driver", "no-such-program" + command[command.index(" ") :])
    branches(drawn, lambda: decide(drawn, "accept", "@a"), lambda: decide(drawn, "confirm", "@a"))
    git(tmp_path, "merge", "-q", "--no-edit", "other", code=1)
    assert b"<<<<<<< ours" in drawn.path(LOG).read_bytes()
