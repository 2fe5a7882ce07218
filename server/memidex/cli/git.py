"""`memidex git-setup` and `memidex merge-driver`: two branches that both decided are merged by git itself.

`git-setup` names the driver in the repository's own configuration, which git does not commit, and the files it is for in
`.gitattributes`, which it does. Where the driver is not set up, git merges them as text.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from memidex.cli import roots
from memidex.cli.console import DONE, REFUSED, Console, Failed, Parser
from memidex.records.memidex import merge as merges
from memidex.records.memidex.merge import LOG, MANIFEST, Side, Sides
from memidex.store import disk

BEGIN, END = "# memidex: begin (`memidex git-setup`)", "# memidex: end"
TORN = f"{BEGIN} the line above had no end"
PATTERNS = (
    "**/memory/*/bundles/*/evidence/outcomes.jsonl",
    "**/memory/*/bundles/*/evidence/gates.jsonl",
    "**/memory/*/bundles/*/relations.json",
    "**/memory/*/bundles/*/manifest.json",
    "**/memory/*/runs.jsonl",
)
NAME = "what a testing agent learned (memidex)"
MERGED, PICKED = ("MERGE_HEAD",), ("CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD", "refs/stash", "FETCH_HEAD")
MOST_COMMITS = 400
"""How far back a side is looked for that no head of git's names."""
OURS = " merge=memidex"
# Which files a side has is asked of its commit. git tells a driver none, so it is known by the blob that it has here; where
# several have it and differ in the files beside it, none is believed, and git leaves its markers.


def git_setup_arguments(parser: Parser) -> None:
    parser.add_argument("--remove", action="store_true", help="take away what it wrote")
    roots.json_argument(parser)
    parser.add_argument("--root", metavar="DIR", help="a folder in the repository; else the working directory")


def git_setup(options: Namespace, console: Console) -> int:
    directory = console.directory if options.root is None else roots.existing(options.root, console)
    top = asked(directory, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    if not top:
        raise Failed(f"{console.shown(directory)} has no files of a git repository: it is bare")
    path = f"{top}/.gitattributes"
    configured = configure(top, remove=options.remove)
    attributes = write_attributes(path, remove=options.remove)
    changed = configured or attributes
    if options.format == "json":
        told = {"version": 1, "installed": not options.remove, "changed": changed, "attributes": console.shown(path)}
        console.json(told)
    elif options.remove:
        console.print("The merge driver is taken away." if changed else "There was no merge driver to take away.")
    else:
        console.print(
            "git merges memidex records by `memidex merge-driver` here now." if changed else "It is set up already."
        )
        if attributes:
            console.print(f"Commit {console.shown(path)}; each clone runs `memidex git-setup` once for itself.")
    return DONE


# Setting up -----------------------------------------------------------------------------------------------------------


def driver() -> str:
    """The command that git gives to its shell. Where memidex is gone since, the file is merged as text."""
    script = os.path.join(os.path.dirname(sys.executable), "memidex")
    # -P: a folder of the repository that is called memidex is not imported.
    own = [script] if os.path.isfile(script) else [sys.executable, "-P", "-m", "memidex"]
    command = " ".join(shlex.quote(word).replace("%", "%%") for word in own)
    return (
        f"{command} merge-driver -- %O %A %B %P && exit 0; grep -q '^<<<<<<< ' %A && exit 1; "
        "exec git merge-file -q -L ours -L base -L theirs %A %O %B"
    )


def configure(top: str, *, remove: bool) -> bool:
    """Write the driver into the repository's configuration, or take it away; whether that changed anything."""
    before = [value(top, "merge.memidex.name"), value(top, "merge.memidex.driver")]
    wanted = [None, None] if remove else [NAME, driver()]
    if before == wanted:
        return False
    if remove:
        for name, text in zip(("name", "driver"), before, strict=True):
            if text is not None:
                asked(top, "config", "--local", "--unset-all", f"merge.memidex.{name}")
    else:
        for name, text in zip(("name", "driver"), wanted, strict=True):
            asked(top, "config", "--local", "--replace-all", f"merge.memidex.{name}", text or "")
    return True


def value(top: str, name: str) -> str | None:
    done = git(top, "config", "--local", "--get", name)
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n") if done.returncode == 0 else None


def write_attributes(path: str, *, remove: bool) -> bool:
    """Put our lines between our marks, or take them away, and leave every other byte; whether the file changed."""
    if os.path.islink(path):
        raise Failed(f"{path} is a symbolic link, which git does not follow")
    try:
        with open(path, "rb") as file:
            before = file.read()
    except FileNotFoundError:
        before = None
    after = attributes_after(before or b"", remove=remove)
    if after == (before or b""):
        return False
    if not after:
        os.unlink(path)
        return True
    disk.put(path, after)
    return True


def attributes_after(before: bytes, *, remove: bool) -> bytes:
    """The attributes with our lines once, where they stood first or at the end; or without them.

    Ours are a line that begins, those for the driver behind it, and the one that ends, as far as they are there: whatever
    somebody wrote among them or took away stays theirs.
    """
    kept: list[bytes] = []
    place: int | None = None
    begin, ours = BEGIN, False
    for row in before.splitlines(keepends=True):
        text = row.rstrip(b"\r\n").decode("utf-8", "replace")
        if text in (BEGIN, TORN):
            if place is None:
                place, begin = len(kept), text
            ours = True
        elif not ours or not (text == END or text.endswith(OURS)):
            kept.append(row)
            ours = False
        elif text == END:
            ours = False
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    if remove:
        after = b"".join(kept)
        torn = begin == TORN and place == len(kept)
        return after.removesuffix(b"\n").removesuffix(b"\r") if torn else after
    if place is None:
        place = len(kept)
        if kept and not kept[-1].endswith(b"\n"):
            kept[-1], begin = kept[-1] + newline, TORN
    block = b"".join(line.encode() + newline for line in (begin, *(f"{pattern}{OURS}" for pattern in PATTERNS), END))
    return b"".join((*kept[:place], block, *kept[place:]))


# Merging --------------------------------------------------------------------------------------------------------------


def merge_driver_arguments(parser: Parser) -> None:
    for name, told in (
        ("base", "%%O"),
        ("ours", "%%A; the result is written here"),
        ("theirs", "%%B"),
        ("path", "%%P"),
    ):
        parser.add_argument(name, help=told)


def merge_driver(options: Namespace, console: Console) -> int:
    contents: list[bytes] = []
    paths = [console.absolute(name) for name in (options.base, options.ours, options.theirs)]
    for path in paths:
        with open(path, "rb") as file:
            contents.append(file.read())
    merged = Merge(console, options.path, contents[0], contents[1], contents[2]).result()
    if merged is None:
        labels = ("-L", "ours", "-L", "base", "-L", "theirs")
        done = git(console.directory, "merge-file", "-q", "-p", *labels, paths[1], paths[0], paths[2])
        if not 0 <= done.returncode < 128:
            raise Failed(f"git cannot merge {options.path} as text")
        disk.put(paths[1], done.stdout)
        return DONE if done.returncode == 0 else REFUSED
    # In one step: of a file that was cut short git would read that our side deleted the rest.
    disk.put(paths[1], merged)
    return DONE


class Held(NamedTuple):
    """A commit that has a file: its blob, and the tree of the folder that it lies in."""

    commit: str
    blob: str
    tree: str


def one_of(blob: str, *tiers: Iterable[Held]) -> str | None:
    """The commit with this blob in the first tier that has one; None where those of it differ in the files beside it."""
    for tier in tiers:
        found = [held for held in tier if held.blob == blob]
        if found:
            return found[0].commit if len({held.tree for held in found}) == 1 else None
    return None


class Merge:
    """One file of a merge, and what git knows of the files beside it."""

    def __init__(self, console: Console, path: str, base: bytes, ours: bytes, theirs: bytes) -> None:
        self.directory = console.directory
        self.environment = console.environment
        self.contents = (base, ours, theirs)
        self.base = base or None  # git gives an empty file where there is none
        self.ours = ours
        self.theirs = theirs
        parts = path.replace("\\", "/").split("/")
        held = 2 if parts[-2:-1] == ["evidence"] else 1
        self.path = path
        self.folder = "".join(f"{part}/" for part in parts[:-held])
        self.name = "/".join(parts[-held:])

    def result(self) -> bytes | None:
        if self.name == MANIFEST:
            return merges.merge(MANIFEST, self.base, self.ours, self.theirs, self.others())
        first: Side = "ours"
        if self.name == LOG and self.base is not None:
            # git asks no driver of a manifest that one side alone changed. The log that it seals is to come first.
            if not all(self.commits):
                return None
            sealed = [self.beside(commit, MANIFEST) for commit in self.commits]
            if sealed[0] is not None and sealed[0] == sealed[1] and sealed[2] is not None:
                first = merges.sealed_first(sealed[2], self.ours, self.theirs)
        return merges.merge(self.name, self.base, self.ours, self.theirs, first=first)

    def others(self) -> dict[str, Sides]:
        """The files that the manifest seals, on both sides and merged, as far as it is known."""
        found: dict[str, Sides] = {}
        if not all(self.commits[1:]):
            return found
        for name in merges.sealed_names(self.ours, self.theirs):
            base, ours, theirs = (self.beside(commit, name) for commit in self.commits)
            if ours is None or theirs is None:
                continue
            merged = merges.merge(name, base, ours, theirs)
            if merged is None and name not in merges.KINDS and base is not None:
                merged = self.merged_text(base, ours, theirs)
            found[name] = Sides(ours, theirs, merged)
        return found

    def merged_text(self, *contents: bytes) -> bytes | None:
        """What git makes of a text; None where it leaves a conflict."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            paths = [f"{folder}/{name}" for name in ("base", "ours", "theirs")]
            for path, content in zip(paths, contents, strict=True):
                with open(path, "wb") as file:
                    file.write(content)
            done = git(self.directory, "merge-file", "-q", "-p", paths[1], paths[0], paths[2])
            return done.stdout if done.returncode == 0 else None

    # Commits ----------------------------------------------------------------------------------------------------------

    @cached_property
    def commits(self) -> tuple[str | None, str | None, str | None]:
        """For base, ours and theirs a commit that has the file as it was given; None where that cannot be told."""
        base, ours, theirs = (blob(self.directory, content) for content in self.contents)
        named = [name.removeprefix("GITHEAD_") for name in self.environment if name.startswith("GITHEAD_")]
        merged = [*named, *MERGED]
        parted = [line for head in merged for line in git(self.directory, "merge-base", "--all", "HEAD", head).stdout.decode().split()]  # fmt: skip
        listed = git(self.directory, "rev-list", "--all", "--reflog", f"--max-count={MOST_COMMITS}", "--", self.folder)
        rest = self.having(listed.stdout.decode().split())
        other = [self.having(merged), self.having(PICKED), rest]
        # What was picked stands on the base of the merge.
        before = [f"{commit}^" for tier in other for commit, held, _ in tier if held == theirs]
        return (
            one_of(base, self.having(parted), self.having(f"{head}^" for head in PICKED), self.having(before), rest),
            one_of(ours, self.having(["HEAD"]), rest),
            one_of(theirs, *other),
        )

    def having(self, commits: Iterable[str]) -> list[Held]:
        """Those of some commits that have the file."""
        names = list(dict.fromkeys(commits))
        if "\n" in self.path or not names:
            return []
        asking = "".join(f"{name}:{self.path}\n{name}:{self.folder.rstrip('/')}\n" for name in names)
        given = asking.encode("utf-8", "surrogateescape")
        done = git(self.directory, "cat-file", "--batch-check=%(objecttype) %(objectname)", given=given)
        rows = done.stdout.decode("utf-8", "replace").splitlines()
        found: list[Held] = []
        for name, row, tree in zip(names, rows[::2], rows[1::2], strict=False):
            kind, _, held = row.partition(" ")
            if kind == "blob":
                found.append(Held(name, held, tree))
        return found

    def beside(self, commit: str | None, name: str) -> bytes | None:
        """A file of the same bundle in a commit."""
        if commit is None:
            return None
        done = git(self.directory, "cat-file", "blob", f"{commit}:{self.folder}{name}")
        return done.stdout if done.returncode == 0 else None


def blob(directory: str, content: bytes) -> str:
    return git(directory, "hash-object", "--stdin", given=content).stdout.decode().strip()


# git ------------------------------------------------------------------------------------------------------------------


def asked(directory: str, *arguments: str) -> bytes:
    """What git answers; its own words where it cannot."""
    done = git(directory, *arguments)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise Failed(f"git: {said}" if said else f"git {arguments[0]} failed")
    return done.stdout


def git(directory: str, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=directory, input=given, capture_output=True, check=False)
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            if not os.path.isdir(directory):
                raise Failed(f"no such folder: {directory}") from None
        raise Failed("git is not installed, or not on the path") from None
