"""Whatever stands where a file belongs: it is told at its place, the other records are as they were, nothing is written.

Everything here is done to real folders. `SECONDS` is far above what any of it takes: nothing may hang.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memidex.records.memidex.vocabulary import FILES, MAX_FILE_SIZE
from memidex.rules import engine
from memidex.rules.rule import Finding
from memidex.store import disk, opening
from memidex.store.snapshot import Root
from sketch import Sketch, sketch

SECONDS = 10
FULL = "-- evidence/gates.jsonl --\n-- evidence/measurements.json --\n{}\n-- artifacts.index.json --\n{}\n-- b/record.md --\n"
NESTED = b"[" * 100_000
LAUGHS = (
    b"---\na0: &a0 [x,x]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30))
    + b"---\n"
)

# What a file may hold instead of what it should.
CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "binary": lambda data: bytes(range(256)) * 64,
    "not UTF-8": lambda data: data.replace(b"n", b"\xf1"),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "lone CR": lambda data: data.replace(b"\n", b"\r"),
    "a BOM": lambda data: b"\xef\xbb\xbf" + data,
    "NUL bytes": lambda data: data + b"\0" * 100,
    "conflict markers": lambda data: b"<<<<<<< ours\n" + data + b"=======\n" + data[::-1] + b"\n>>>>>>> theirs\n",
    "deeply nested": lambda data: NESTED,
    "deeply nested members": lambda data: b'{"a":' * 100_000,
    "a YAML alias bomb": lambda data: LAUGHS,
    "over the limit": lambda data: b" " * (MAX_FILE_SIZE + 1),
    "just at the limit": lambda data: b"x" * MAX_FILE_SIZE,
    "another format": lambda data: b"%PDF-1.7\n" + data,
    "a list": lambda data: b"[1,2]",
    "null": lambda data: b"null\n",
}


UNPARSED = ("evidence/evidence.md", "evidence/gates.jsonl", "artifacts.index.json")
"""Here empty, or never parsed: nothing need be told of other bytes in them but that they were edited."""


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listen(path: Path) -> None:
    here = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's path may be no longer than about a hundred bytes
    try:
        here.bind(path.name)
    finally:
        os.chdir(before)
        here.close()


def circle(path: Path) -> None:
    path.symlink_to(path.name)


def long_circle(path: Path) -> None:
    (path.parent / "other").symlink_to(path.name)
    path.symlink_to("other")


def link_in_root_to_folder(path: Path) -> None:
    path.symlink_to(path.parent.parent)


def link_to_large_file(path: Path) -> None:
    large = path.parent / "large.bin"
    large.write_bytes(b"x" * (MAX_FILE_SIZE + 1))
    path.symlink_to(large.name)


def link_to_fifo(path: Path) -> None:
    os.mkfifo(path.parent / "pipe")
    path.symlink_to("pipe")


# What may stand where a file belongs.
THINGS: dict[str, Callable[[Path], None]] = {
    "nothing": lambda path: None,
    "a folder": Path.mkdir,
    "a pipe": fifo,
    "a socket": listen,
    "a link in a circle": circle,
    "links in a circle": long_circle,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link out of the root": lambda path: path.symlink_to("/etc/passwd"),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link out of the root to a folder": lambda path: path.symlink_to("/"),
    "a link to a folder of the root": link_in_root_to_folder,
    "a link to a file over the limit": link_to_large_file,
    "a link to a pipe": link_to_fifo,
}
LINKS = {name for name in THINGS if "link" in name}


def drawn(folder: Path) -> Sketch:
    return sketch(FULL, folder)


def state(root: Path) -> dict[str, str]:
    """Everything below a folder, with what tells whether it was touched."""
    found: dict[str, str] = {}
    for path in [root, *sorted(root.rglob("*"))]:
        info = path.lstat()
        told = [oct(info.st_mode), str(info.st_mtime_ns)]
        if stat.S_ISREG(info.st_mode):
            told.append(hashlib.sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else "")
        elif stat.S_ISLNK(info.st_mode):
            told.append(str(path.readlink()))
        found[str(path.relative_to(root))] = " ".join(told)
    return found


def findings(root: Root) -> list[Finding]:
    every = [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root)]
    return engine.ordered([*every, *engine.check_root(root)])


def checked(root: Path) -> tuple[Root, list[Finding]]:
    """The root and its findings, once it is sure that it took no time, wrote nothing, and can be shown."""
    before, began = state(root), time.monotonic()
    opened = opening.cold(root.as_posix())
    found = findings(opened)
    assert opening.changes(opened)[1] == []
    assert time.monotonic() - began < SECONDS
    assert state(root) == before
    shown = [
        (item.path, item.message, item.record, item.related and [text for _, _, text in item.related]) for item in found
    ]
    json.dumps(shown, ensure_ascii=False).encode()
    assert [item for item in found if item.rule.name == "rule-crashed"] == []
    return opened, found


def of_others(found: list[Finding], drawn_root: Sketch) -> list[Finding]:
    """The findings of the record that nobody touched."""
    return [item for item in found if drawn_root.ids["b"] in item.path]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("what", CONTENTS)
def test_a_file_may_hold_anything(what: str, name: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    path = here.path(name)
    before = path.read_bytes()
    path.write_bytes(CONTENTS[what](before))
    opened, found = checked(here.root)
    assert len(opened.entries) == 2
    assert of_others(found, here) == []
    own = [item for item in found if item.path == path.as_posix()]
    if what == "over the limit":
        assert [item.rule.name for item in own] == ["file-too-large"]
    elif path.read_bytes() != before and what not in ("CRLF", "a BOM", "lone CR") and name not in UNPARSED:
        assert own, "it is told at the file"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("thing", THINGS)
def test_anything_may_stand_where_a_file_belongs(thing: str, name: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    path = here.path(name)
    path.unlink()
    THINGS[thing](path)
    opened, found = checked(here.root)
    assert len(opened.entries) == 2
    assert of_others(found, here) == []
    rules = {item.rule.name for item in found if item.path == path.as_posix()}
    if thing != "nothing":
        assert rules & {"unreadable-file", "link-leaves-root", "file-too-large"}, rules
    elif FILES[name]:
        assert {item.rule.name for item in found} & {"missing-file"}
    bundle = opened.reader.bundle(path.as_posix().removesuffix(f"/{name}"))
    assert bundle
    assert name not in bundle.files


@pytest.mark.parametrize("name", ["record.md", "evidence/outcomes.jsonl", "observations.jsonl"])
def test_a_link_that_stays_in_the_root_is_followed(name: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    path = here.path(name)
    kept = here.root / "kept"
    kept.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(kept)
    _, found = checked(here.root)
    assert found == []


@pytest.mark.parametrize("thing", [*THINGS, "a file"])
def test_anything_may_stand_where_evidence_belongs(thing: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    evidence = here.path("evidence/x").parent
    shutil.rmtree(evidence)
    (THINGS.get(thing) or Path.touch)(evidence)
    opened, found = checked(here.root)
    assert len(opened.entries) == 2
    assert of_others(found, here) == []
    assert [item for item in found if here.ids["a"] in item.path]


@pytest.mark.parametrize("thing", [*THINGS, "a file"])
def test_anything_may_stand_where_a_bundle_belongs(thing: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    bundle = here.path("record.md").parent
    shutil.rmtree(bundle)
    (THINGS.get(thing) or Path.touch)(bundle)
    opened, found = checked(here.root)
    assert of_others(found, here) == []
    assert len(opened.entries) == (2 if thing == "a folder" else 1)
    if thing in LINKS:
        assert ("link-leaves-root", bundle.as_posix()) in [(item.rule.name, item.path) for item in found]
        assert {item.rule.name for item in found} == {"link-leaves-root"}


@pytest.mark.parametrize("thing", [*THINGS, "a file"])
@pytest.mark.parametrize("level", ["memory", "memory/shop", "memory/shop/bundles"])
def test_anything_may_stand_where_a_folder_of_the_root_belongs(level: str, thing: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    shutil.rmtree(here.root / level)
    (THINGS.get(thing) or Path.touch)(here.root / level)
    opened, found = checked(here.root)
    assert not opened.entries
    link = [("link-leaves-root", (here.root / level).as_posix())] if thing in LINKS and level != "memory" else []
    assert set(link) <= {(item.rule.name, item.path) for item in found}
    assert {item.rule.name for item in found} <= {"link-leaves-root"}
    assert not disk.is_root(here.root.as_posix()) or (thing, level) == ("a folder", "memory/shop/bundles")
    disk.roots_below(tmp_path.as_posix())


@pytest.mark.parametrize("thing", [*THINGS, "a file"])
def test_anything_may_stand_where_a_ledger_belongs(thing: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    ledger = here.path("runs.jsonl")
    ledger.unlink()
    (THINGS.get(thing) or Path.touch)(ledger)
    opened, found = checked(here.root)
    assert len(opened.entries) == 2
    told = {item.rule.name for item in found if item.path == ledger.as_posix()}
    assert bool(told & {"unreadable-file", "link-leaves-root", "file-too-large"}) == (
        thing not in ("nothing", "a file")
    )


@pytest.mark.parametrize("what", CONTENTS)
def test_a_ledger_may_hold_anything(what: str, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    ledger = here.path("runs.jsonl")
    ledger.write_bytes(CONTENTS[what](ledger.read_bytes()))
    opened, found = checked(here.root)
    assert len(opened.entries) == 2
    told = [item.rule.name for item in found if item.path == ledger.as_posix()]
    if what == "over the limit":
        assert told == ["file-too-large"]
    elif what not in ("empty", "CRLF", "a BOM", "lone CR", "truncated"):
        assert told


NAMES = [
    b"new\nline",
    "emoji-😀".encode(),
    b"not-utf8-\xff",
    b" ",
    b"-rf",
    b"a" * 255,
    b"quote\"'`$(x)",
    b"tab\t",
    "\u202egnp.exe".encode(),
    b"back\\slash",
    b"COM1",
    b".hidden",
]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_file_may_have_any_name(name: bytes, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    folder = os.fsencode(here.path("record.md").parent)
    for where in (folder, folder + b"/evidence"):
        with open(where + b"/" + name, "wb") as file:
            file.write(b"x")
    opened, found = checked(here.root)
    assert len(opened.entries) == 2
    assert of_others(found, here) == []
    assert {item.rule.name for item in found} <= {"unlisted-file", "left-over-temporary"}


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_bundle_and_a_product_may_have_any_name(name: bytes, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    memory = os.fsencode(here.root / "memory")
    shutil.copytree(os.fsencode(here.path("record.md").parent), memory + b"/shop/bundles/" + name)
    shutil.copytree(os.fsencode(here.path("record.md").parent), memory + b"/" + name + b"/bundles/x")
    opened, found = checked(here.root)
    assert len(opened.entries) >= 2
    assert [item for item in of_others(found, here) if item.rule.name != "repeated-id"] == []


def unreadable(root: Path) -> Iterator[Path]:
    yield root / "record.md"
    yield root / "evidence" / "outcomes.jsonl"
    yield root / "evidence"
    yield root


AS_NOBODY = """
import json, os, sys
sys.path[:0] = {path!r}
from memidex.rules import engine
from memidex.store import opening
import filelock, socket
before = opening.cold({root!r})
for entry in before.entries.values():  # what is imported late is imported before the right to read it goes
    engine.check_entry(entry, before)
if os.geteuid() == 0:
    os.setegid(65534), os.seteuid(65534)
root = opening.cold({root!r})
saved = opening.save(root)
root = opening.give_short_ids(root, [entry.id for entry in root.entries.values()])
found = [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root)]
print(json.dumps([saved, len(root.entries), len(root.short_ids), [[item.rule.name, item.path] for item in found]]))
"""


def as_nobody(root: Path) -> tuple[bool, int, int, list[list[str]]]:
    """(cache saved, records, short ids, findings) of a root, as a user sees it who does not own it."""
    for parent in [root, *root.parents]:
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    code = AS_NOBODY.format(path=sys.path, root=root.as_posix())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


@pytest.mark.parametrize("index", range(4), ids=["record.md", "outcomes.jsonl", "evidence", "the bundle"])
def test_what_may_not_be_read_is_told_and_the_others_are_read(index: int, tmp_path: Path) -> None:
    here = drawn(tmp_path)
    path = list(unreadable(here.path("record.md").parent))[index]
    before = path.stat().st_mode
    path.chmod(0)
    try:
        _, records, _, found = as_nobody(here.root)
    finally:
        path.chmod(before)
    assert records >= 1
    assert [name for name, at in found if here.ids["b"] in at] == []
    told = [name for name, at in found if here.ids["a"] in at]
    assert "unreadable-file" in told or path.name == here.ids["a"]


def test_a_root_that_may_not_be_written_is_read_all_the_same_and_nothing_is_kept(tmp_path: Path) -> None:
    here = drawn(tmp_path)
    every = [here.root, *here.root.rglob("*")]
    for path in every:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = state(here.root)
    try:
        saved, records, short_ids, found = as_nobody(here.root)
    finally:
        for path in every:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert (saved, records, short_ids, found) == (False, 2, 0, [])
    assert set(before) == set(state(here.root))


def test_a_root_of_faults_is_checked_whole(tmp_path: Path) -> None:
    here = sketch("".join(f"-- {nick}/record.md --\n" for nick in "abcdefghijklmnopq"), tmp_path)
    for nick, what in zip("abcdefghijklmnopq", CONTENTS, strict=False):
        for name in ("record.md", "evidence/outcomes.jsonl", "manifest.json"):
            path = here.path(name, nick)
            path.write_bytes(CONTENTS[what](path.read_bytes()))
    opened, found = checked(here.root)
    assert len(opened.entries) == 17
    assert found


def test_a_bundle_whose_folder_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    here = drawn(tmp_path)
    bundle = here.path("record.md").parent
    bundle.chmod(0)
    try:
        _, records, _, found = as_nobody(here.root)
    finally:
        bundle.chmod(0o755)
    assert records == 2
    assert found == [["unreadable-file", f"{bundle.as_posix()}/record.md"]]
