"""What is kept up to date change by change is what is read from scratch, whatever the changes; the cache is no other thing.

Everything is done to real files.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memidex.store import disk, opening
from memidex.store.snapshot import Entry, Root
from sketch import sketch

NICKS = "abcdef"
TEMPLATE = "".join(f"-- {nick}/record.md --\n" for nick in NICKS)
RELATED = (
    '-- a/record.md --\n-- relations.json --\n{"relations":[{"type":"supersedes","target":"@b"}]}\n-- b/record.md --\n'
)
NUMBER = count()


def plain(root: Root) -> dict[str, Any]:
    """What a root says, without the stamps that say how it was read."""

    def unstamped(item: Entry) -> Entry:
        return msgspec.structs.replace(item, names=(), numbers=b"")

    return {
        "path": root.path,
        "entries": {directory: unstamped(item) for directory, item in root.entries.items()},
        "ids": {key: sorted(row) for key, row in root.ids.items()},
        "backlinks": {key: sorted(row) for key, row in root.backlinks.items()},
        "anchors": {key: sorted(row) for key, row in root.anchors.items()},
        "created": {key: sorted(row) for key, row in root.created.items()},
        "products": {
            name: (product.runs, dict(product.events), product.current)
            for name, product in root.products.items()
            if product.runs or product.events
        },
        "short": dict(root.short_ids.items()),
    }


def again(root: Root) -> Root:
    """The root after what changed on disk was read again, as the server does it."""
    changed, gone = opening.changes(root)
    after = opening.refreshed(root, [*changed, *gone])
    for name in {*after.products, *(name for name, _ in disk.products(root.path))}:
        after = opening.with_ledger(after, name)
    return after


def settled(root: Root) -> Root:
    """The root once every stamp of it is known: nothing differs any more."""
    after = again(root)
    assert opening.changes(after) == ([], [])
    return after


# Changes to a root's files --------------------------------------------------------------------------------------------


def bundles(root: Path) -> list[Path]:
    return sorted(root.glob("memory/*/bundles/*"))


def pick(root: Path, number: int) -> Path | None:
    there = bundles(root)
    return there[number % len(there)] if there else None


def event(number: int, kind: str) -> str:
    return json.dumps({"buildOrdinal": number % 20, "origin": "user", "type": kind, "id": f"new-{number}"}) + "\n"


def add(root: Path, number: int) -> None:
    drawn = sketch(f"-- n{next(NUMBER)}/record.md --\n", root.parent / f"new{next(NUMBER)}")
    source = next(path for path in bundles(drawn.root) if "-a-" not in path.name)
    product = ["shop", "other", "third"][number % 3]
    target = root / "memory" / product / "bundles" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, target)
    shutil.rmtree(drawn.root.parent)


def remove(root: Path, number: int) -> None:
    if found := pick(root, number):
        shutil.rmtree(found)


def remove_product(root: Path, number: int) -> None:
    if found := pick(root, number):
        shutil.rmtree(found.parent.parent)


def rename(root: Path, number: int) -> None:
    if found := pick(root, number):
        found.rename(found.with_name(f"fact-el-renamed-{next(NUMBER):016x}"))


def swap(root: Path, number: int) -> None:
    one, two = pick(root, number), pick(root, number + 1)
    if one and two and one != two:
        between = one.with_name("between")
        one.rename(between)
        two.rename(one)
        between.rename(two)


def append(root: Path, number: int) -> None:
    if (found := pick(root, number)) and (found / "evidence").is_dir():
        kind = ["confirmed", "contradicted", "deprecated", "superseded", "helpful"][number % 5]
        with (found / "evidence" / "outcomes.jsonl").open("a") as file:
            file.write(event(number, kind))


def summarise(root: Path, number: int) -> None:
    if (found := pick(root, number)) and (found / "record.md").is_file():
        text = (found / "record.md").read_text(errors="replace")
        (found / "record.md").write_text(text.replace("resolved", f"resolved {number}"))


def relate(root: Path, number: int) -> None:
    if (found := pick(root, number)) and (other := pick(root, number // 7)):
        kind = ["supersedes", "conflicts-with", "relates-to", "superseded-by"][number % 4]
        target = [other.name, "MEM-001", "agentqa://memory/mem-1", "nowhere"][number % 3]
        (found / "relations.json").write_text(json.dumps({"relations": [{"type": kind, "target": target}]}))


def take_file(root: Path, number: int) -> None:
    if found := pick(root, number):
        files = sorted(path for path in found.rglob("*") if path.is_file())
        if files:
            files[number % len(files)].unlink()


def spoil(root: Path, number: int) -> None:
    if found := pick(root, number):
        files = sorted(path for path in found.rglob("*") if path.is_file())
        if files:
            files[number % len(files)].write_bytes(bytes([number % 256]) * (number % 50))


def write_same_size(root: Path, number: int) -> None:
    """As a tool that puts the times back: same size, same inode, same mtime, other bytes."""
    if (found := pick(root, number)) and (found / "evidence" / "outcomes.jsonl").is_file():
        path = found / "evidence" / "outcomes.jsonl"
        before = path.stat()
        data = path.read_bytes().replace(b'"confirmed"', b'"overturn3"').replace(b'"promoted"', b'"superned"')
        with path.open("r+b") as file:
            file.write(data)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_evidence(root: Path, number: int) -> None:
    if (found := pick(root, number)) and (found / "evidence").is_dir():
        (found / "evidence").rename(found / "elsewhere")
        if number % 2:
            shutil.copytree(found / "elsewhere", found / "evidence")
            shutil.rmtree(found / "elsewhere")


def run_more(root: Path, number: int) -> None:
    product = root / "memory" / ["shop", "other"][number % 2]
    if product.is_dir():
        with (product / "runs.jsonl").open("a") as file:
            file.write(json.dumps({"ordinal": number % 30}) + "\n")


def add_stranger(root: Path, number: int) -> None:
    if found := pick(root, number):
        (found / f"stranger-{number % 3}.txt").write_text(str(number))


CHANGES: list[Callable[[Path, int], None]] = [
    add, remove, remove_product, rename, swap, append, summarise, relate, take_file, spoil, write_same_size, replace_evidence,
    run_more, add_stranger,
]  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 1000)), min_size=1, max_size=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sketch(RELATED, tmp_path).root


@given(rounds=st.lists(STEPS, min_size=1, max_size=5), through_cache=st.booleans())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_after_any_changes_what_is_kept_is_what_is_read_from_scratch(
    rounds: list[list[tuple[Callable[[Path, int], None], int]]],
    through_cache: bool,
) -> None:
    with tempfile.TemporaryDirectory(prefix="mdx-") as place:
        root = sketch(TEMPLATE, Path(place)).root
        path = root.as_posix()
        kept = opening.give_short_ids(opening.cold(path), ["fact-a", "fact-b"])
        for steps in rounds:
            for change, number in steps:
                change(root, number)
            kept = again(kept)
            fresh = opening.cold(path)
            assert plain(kept) == plain(fresh)
            assert plain(opening.cold(path, seen=lambda bundle: None)) == plain(fresh)
            assert opening.changes(kept) == ([], [])
            if through_cache and disk.is_root(path):
                assert opening.save(kept)
                warm = opening.warm(path)
                assert warm
                assert plain(warm) == plain(fresh)
                kept = warm


def test_a_change_is_seen_as_just_that_change(folder: Path) -> None:
    root = settled(opening.cold(folder.as_posix()))
    first, second = [path.as_posix() for path in bundles(folder)]
    summarise(folder, 0)
    assert opening.changes(root) == ([first], [])
    remove(folder, 1)
    assert opening.changes(root) == ([first], [second])


@pytest.mark.parametrize("name", ["record.md", "evidence/outcomes.jsonl", "manifest.json", "observations.jsonl"])
def test_a_write_of_the_same_size_with_its_time_put_back_is_noticed(name: str, folder: Path) -> None:
    root = settled(opening.cold(folder.as_posix()))
    bundle = bundles(folder)[0]
    path = bundle / name
    before = path.stat()
    data = path.read_bytes()
    time.sleep(0.01)  # a tick of the coarsest clock of a kernel
    with path.open("r+b") as file:
        file.write(data[:-2] + b"xx")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert opening.changes(root) == ([bundle.as_posix()], [])


@pytest.mark.parametrize("name", ["notes.txt", "evidence/notes.txt", "evidence/gates.jsonl"])
def test_a_file_that_comes_or_goes_is_noticed(name: str, folder: Path) -> None:
    root = settled(opening.cold(folder.as_posix()))
    bundle = bundles(folder)[0]
    (bundle / name).write_text("{}\n")
    assert opening.changes(root) == ([bundle.as_posix()], [])
    root = settled(root)
    (bundle / name).unlink()
    assert opening.changes(root) == ([bundle.as_posix()], [])


def test_links_among_the_bundles_are_known_after_a_warm_start_too(folder: Path) -> None:
    (folder / "memory" / "shop" / "bundles" / "linked").symlink_to(bundles(folder)[0])
    cold = opening.cold(folder.as_posix())
    assert cold.links == ((folder / "memory" / "shop" / "bundles" / "linked").as_posix(),)
    assert opening.save(cold)
    warm = opening.warm(folder.as_posix())
    assert warm
    assert warm.links == cold.links


# The cache ------------------------------------------------------------------------------------------------------------


def cached(folder: Path) -> Path:
    assert opening.save(settled(opening.cold(folder.as_posix())))
    return folder / ".memidex" / "index"


def test_the_cache_gives_what_was_saved_and_git_does_not_see_it(folder: Path) -> None:
    cached(folder)
    warm = opening.warm(folder.as_posix())
    assert warm
    assert plain(warm) == plain(opening.cold(folder.as_posix()))
    assert (folder / ".memidex" / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in (folder / ".memidex").iterdir()) == [".gitignore", "index"]


def test_files_too_young_to_be_believed_are_looked_at_again_after_a_warm_start(folder: Path) -> None:
    cached(folder)
    warm = opening.warm(folder.as_posix())
    assert warm
    assert opening.changes(warm)[0] == [path.as_posix() for path in bundles(folder)]


def test_files_old_enough_are_believed_by_their_stamps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SETTLED", 0)
    cached(folder)
    warm = opening.warm(folder.as_posix())
    assert warm
    assert opening.changes(warm) == ([], [])
    append(folder, 0)
    assert len(opening.changes(warm)[0]) == 1


@pytest.mark.parametrize("keep", [0, 1, 3, 4, 5, 20, -1, -20])
def test_a_truncated_cache_is_not_believed(keep: int, folder: Path) -> None:
    index = cached(folder)
    index.write_bytes(index.read_bytes()[:keep])
    assert opening.warm(folder.as_posix()) is None


@given(data=st.data())
@settings(max_examples=80)
def test_a_damaged_cache_is_not_believed(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory(prefix="mdx-") as place:
        folder = sketch(RELATED, Path(place)).root
        index = cached(folder)
        whole = index.read_bytes()
        at = data.draw(st.integers(0, len(whole) - 1))
        other = data.draw(st.integers(1, 255))
        index.write_bytes(whole[:at] + bytes([whole[at] ^ other]) + whole[at + 1 :])
        assert opening.warm(folder.as_posix()) is None


@given(data=st.binary(max_size=200))
@settings(max_examples=30)
def test_any_bytes_are_no_cache(data: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="mdx-") as place:
        folder = sketch(RELATED, Path(place)).root
        cached(folder).write_bytes(data)
        assert opening.warm(folder.as_posix()) is None
        assert len(opening.cold(folder.as_posix()).entries) == 2


def test_a_cache_of_another_version_is_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached(folder)
    monkeypatch.setattr(opening, "CACHE_VERSION", opening.CACHE_VERSION + 1)
    assert opening.warm(folder.as_posix()) is None
    assert opening.save(opening.cold(folder.as_posix()))
    assert opening.warm(folder.as_posix())


def test_a_cache_that_was_copied_with_its_root_is_not_believed(folder: Path, tmp_path: Path) -> None:
    cached(folder)
    shutil.copytree(folder, tmp_path / "copy")
    assert opening.warm((tmp_path / "copy").as_posix()) is None


def stranger(index: Path) -> list[Callable[[], None]]:
    return [
        index.mkdir,
        lambda: os.mkfifo(index),
        lambda: index.symlink_to("index"),
        lambda: index.symlink_to("/dev/zero"),
        lambda: None,
    ]


@pytest.mark.parametrize("number", range(5), ids=["a folder", "a pipe", "a circle", "a device", "nothing"])
def test_what_is_no_cache_is_passed_over(number: int, folder: Path) -> None:
    index = cached(folder)
    index.unlink()
    stranger(index)[number]()
    assert opening.warm(folder.as_posix()) is None
    root = opening.cold(folder.as_posix())
    assert opening.save(root) == (number != 0)  # a folder is not replaced


@pytest.mark.parametrize("number", range(4), ids=["a file", "a circle", "a link out of the root", "a pipe"])
def test_where_the_state_cannot_be_kept_all_else_works(number: int, folder: Path, tmp_path: Path) -> None:
    state = folder / ".memidex"
    outside = tmp_path / "outside"
    outside.mkdir()
    [state.touch, lambda: state.symlink_to(".memidex"), lambda: state.symlink_to(outside), lambda: os.mkfifo(state)][
        number
    ]()
    root = opening.cold(folder.as_posix())
    assert not opening.save(root)
    assert opening.give_short_ids(root, ["fact-a"]).short_ids == root.short_ids
    assert opening.warm(folder.as_posix()) is None
    assert list(outside.iterdir()) == []


# Short ids ------------------------------------------------------------------------------------------------------------


def test_a_short_id_is_given_once_and_never_again(folder: Path) -> None:
    root = opening.give_short_ids(opening.cold(folder.as_posix()), ["fact-a", "fact-b", "fact-a"])
    assert (root.short_ids["fact-a"], root.short_ids["fact-b"]) == ("MEM-001", "MEM-002")
    later = opening.give_short_ids(opening.cold(folder.as_posix()), ["fact-c", "fact-b"])
    assert (later.short_ids["fact-c"], later.short_ids["fact-b"]) == ("MEM-003", "MEM-002")


def test_a_short_id_that_was_cut_short_while_it_was_written_hurts_no_later_one(folder: Path) -> None:
    path = folder.as_posix()
    opening.give_short_ids(opening.cold(path), ["fact-a"])
    with (folder / ".memidex" / "short-ids.jsonl").open("a") as file:
        file.write('{"n":2,"id":"fa')
    given = opening.give_short_ids(opening.cold(path), ["fact-b"])
    assert given.short_ids["fact-b"] == "MEM-002"
    again = opening.give_short_ids(opening.cold(path), ["fact-c"])
    assert (again.short_ids["fact-a"], again.short_ids["fact-b"], again.short_ids["fact-c"]) == (
        "MEM-001",
        "MEM-002",
        "MEM-003",
    )


def test_two_processes_give_no_number_twice(folder: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = folder.as_posix()
    with ThreadPoolExecutor(4) as pool:
        roots = list(pool.map(lambda number: opening.give_short_ids(opening.cold(path), [f"fact-{number}"]), range(20)))
    numbers = [root.short_ids[f"fact-{number}"] for number, root in enumerate(roots)]
    assert sorted(numbers) == [f"MEM-{number:03d}" for number in range(1, 21)]
