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
from collections.abc import Iterable, Iterator
from functools import cached_property

from memidex.cli import roots
from memidex.cli.console import DONE, REFUSED, Console, Failed, Parser
from memidex.records.memidex import merge as merges
from memidex.records.memidex.merge import LOG, MANIFEST, Side, Sides

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
HEADS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD", "refs/stash")
MOST_COMMITS = 400
"""How far back a side is looked for that no head of git's names."""
# Which files a side has is asked of its commit. git tells a driver none, so it is known by the blob that it has here.


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
        f"{command} merge-driver %O %A %B %P && exit 0; grep -q '^<<<<<<< ' %A && exit 1; "
        "exec git merge-file -q -L ours -L base -L theirs %A %O %B"
    )


def configure(top: str, *, remove: bool) -> bool:
    """Write the driver into the repository's configuration, or take it away; whether that changed anything."""
    before = [value(top, "merge.memidex.name"), value(top, "merge.memidex.driver")]
    wanted = [None, None] if remove else [NAME, driver()]
    if before == wanted:
        return False
    if remove:
        asked(top, "config", "--local", "--remove-section", "merge.memidex")
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
    fresh = f"{path}.memidex-{os.getpid()}.tmp"
    with open(fresh, "xb") as file:
        file.write(after)
    if before is not None:
        os.chmod(fresh, os.stat(path).st_mode & 0o7777)
    os.replace(fresh, path)
    return True


def attributes_after(before: bytes, *, remove: bool) -> bytes:
    rows = before.splitlines(keepends=True)
    plain = [row.rstrip(b"\r\n").decode("utf-8", "replace") for row in rows]
    start = next((index for index, row in enumerate(plain) if row in (BEGIN, TORN)), None)
    end = plain.index(END, start) + 1 if start is not None and END in plain[start:] else None
    newline = b"\r\n" if b"\r\n" in before else b"\n"

    def block(begin: str) -> bytes:
        lines = (begin, *(f"{pattern} merge=memidex" for pattern in PATTERNS), END)
        return b"".join(line.encode() + newline for line in lines)

    if start is None or end is None:
        if remove:
            return before
        torn = bool(before) and not before.endswith(b"\n")
        return before + newline + block(TORN) if torn else before + block(BEGIN)
    above, below = b"".join(rows[:start]), b"".join(rows[end:])
    if not remove:
        return above + block(plain[start]) + below
    if plain[start] == TORN and not below:
        above = above.removesuffix(b"\n").removesuffix(b"\r")
    return above + below


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
        done = git(console.directory, "merge-file", "-q", *labels, paths[1], paths[0], paths[2])
        return DONE if done.returncode == 0 else REFUSED
    with open(paths[1], "wb") as file:
        file.write(merged)
    return DONE


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
        if self.name == LOG:
            # git asks no driver of a manifest that one side alone changed. The log that it seals is to come first.
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
        """For base, ours and theirs a commit that has the file as it was given."""
        wanted = [blob(self.directory, content) for content in self.contents]
        found: dict[str, str] = {}
        for commit, held in self.having(self.candidates()):
            found.setdefault(held, commit)
        if not all(held in found for held, content in zip(wanted, self.contents, strict=True) if content):
            listed = git(
                self.directory, "rev-list", "--all", "--reflog", f"--max-count={MOST_COMMITS}", "--", self.path
            )
            for commit, held in self.having(listed.stdout.decode().split()):
                found.setdefault(held, commit)
        base, ours, theirs = (found.get(held) for held in wanted)
        return base, ours, theirs

    def candidates(self) -> list[str]:
        """What git may be merging: the two sides, where they parted, and what a picked commit stands on."""
        named = [name.removeprefix("GITHEAD_") for name in self.environment if name.startswith("GITHEAD_")]
        heads = [*named, *HEADS]
        parted = [line for head in heads for line in git(self.directory, "merge-base", "--all", "HEAD", head).stdout.decode().split()]  # fmt: skip
        return ["HEAD", *heads, *parted, *(f"{head}^" for head in heads)]

    def having(self, commits: Iterable[str]) -> Iterator[tuple[str, str]]:
        """(commit, blob of the file in it) of those that have it."""
        names = list(dict.fromkeys(commits))
        asking = "".join(f"{name}:{self.path}\n" for name in names).encode("utf-8", "surrogateescape")
        if "\n" in self.path:
            return
        done = git(self.directory, "cat-file", "--batch-check=%(objecttype) %(objectname)", given=asking)
        for name, row in zip(names, done.stdout.decode("utf-8", "replace").splitlines(), strict=False):
            kind, _, held = row.partition(" ")
            if kind == "blob":
                yield name, held

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
