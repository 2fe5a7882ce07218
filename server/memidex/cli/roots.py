"""From the working directory and the arguments to the knowledge roots a command is about."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memidex.cli.console import REFUSED, Console, Failed, Parser
from memidex.records.memidex.bundle import Bundle
from memidex.store import disk, opening
from memidex.store.snapshot import Root

if TYPE_CHECKING:
    from memidex.config import Config

WHAT = "a root is a folder with memory/<product>/bundles/"
USUAL = "agent-qa-knowledge"
WORTH_KEEPING = 500
"""Records from which on the next command is faster for a cache of what this one read."""


class Reader(opening.Disk):
    """The disk as it was when it was read: what was read last is kept, and what a check has shown, up to a limit."""

    LAST = 256
    MOST = 128 * 1024 * 1024
    """Bytes of files that are kept of what was shown; of a root beyond that the rest is read again where it is needed."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.last: OrderedDict[str, Bundle | None] = OrderedDict()
        self.shown: dict[str, Bundle] = {}
        self.size = 0

    def keep(self, bundle: Bundle) -> None:
        self.size += sum(len(file.data) for file in bundle.files.values())
        if self.size <= self.MOST:
            self.shown[bundle.directory] = bundle

    def bundle(self, directory: str) -> Bundle | None:
        if directory in self.shown:
            return self.shown[directory]
        if directory not in self.last:
            self.last[directory] = super().bundle(directory)
            if len(self.last) > self.LAST:
                self.last.popitem(last=False)
        return self.last[directory]


def arguments(parser: Parser) -> None:
    parser.add_argument("--root", metavar="DIR", help="the knowledge root; else it is looked for below and above here")


def json_argument(parser: Parser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text")


def build(text: str) -> int:
    """A build ordinal, as an argument."""
    from argparse import ArgumentTypeError

    if not text.isdecimal() or len(text) > 15:
        raise ArgumentTypeError(f"a build is a whole number from 0, not {text!r}")
    return int(text)


def named(directory: str, console: Console) -> str:
    """The root that `--root` names."""
    path = existing(directory, console)
    if not disk.is_root(path):
        raise Failed(f"{directory} is no knowledge root: {WHAT}")
    return readable(path)


def existing(name: str, console: Console) -> str:
    path = console.absolute(name)
    if "\0" in path:
        raise Failed(f"no such file or folder: {name}")
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Failed(f"no such file or folder: {name}") from None
    except OSError as error:
        raise Failed(f"{name}: cannot be read: {error.strerror}") from None
    return path


def readable(root: str) -> str:
    """The root, after a look that its folders can be listed: an unreadable one must not pass as an empty one."""
    with os.scandir(f"{root}/memory") as products:
        folders = [f"{root}/memory/{item.name}/bundles" for item in products if item.is_dir(follow_symlinks=False)]
    for bundles in folders:
        try:
            os.scandir(bundles).close()
        except (FileNotFoundError, NotADirectoryError):
            continue  # a folder of something else
        except OSError as error:
            raise Failed(f"{bundles}: cannot be read: {error.strerror}") from None
    return root


def one(options: Namespace, console: Console) -> str:
    """The root of a command about one root: as named, else the only one below the working directory, else the one above."""
    if options.root is not None:
        return named(options.root, console)
    above = disk.root_above(console.directory)
    if above:
        return readable(above)
    below = searched(console.directory) or beside(console.directory)
    if len(below) > 1:
        names = "\n".join(f"  --root {console.shown(root)}" for root in below)
        raise Failed(f"several knowledge roots here; name one:\n{names}")
    if not below:
        raise Failed(f"no knowledge root found in or above {console.directory}: {WHAT}")
    return readable(below[0])


def searched(directory: str) -> list[str]:
    """The roots below a folder, but for those that the configuration leaves out."""
    settings = configured(directory)
    return [root for root in disk.roots_below(directory) if root == directory or not settings.excludes(root)]


def beside(directory: str) -> list[str]:
    """The root in its usual place in the repository that holds a folder, where there is one."""
    here = directory
    while True:
        if disk.is_root(f"{here}/{USUAL}"):
            return [f"{here}/{USUAL}"]
        parent = here.rpartition("/")[0]
        if os.path.exists(f"{here}/.git") or parent in ("", here):
            return []
        here = parent


def several(paths: Sequence[str], options: Namespace, console: Console) -> dict[str, list[str]]:
    """The roots of a command about paths, each with the paths in it that are asked for (the root itself for all)."""
    if options.root is not None:
        root = named(options.root, console)
        wanted = [existing(path, console) for path in paths]
        for path in wanted:
            if not within(path, root):
                raise Failed(f"{console.shown(path)} is not in the knowledge root {console.shown(root)}")
        return {root: wanted or [root]}
    found: dict[str, list[str]] = {}
    for name in paths or ["."]:
        path = existing(name, console)
        above = disk.root_above(path)
        below = [] if above or not os.path.isdir(path) else searched(path)
        if not paths and not above and not below:
            below = beside(path)
        if not above and not below:
            raise Failed(f"no knowledge root found in or above {name if paths else console.directory}: {WHAT}")
        if above:
            found.setdefault(readable(above), []).append(path if paths else above)
        for root in below:
            found.setdefault(readable(root), []).append(root)
    # As their findings are sorted, which have a path below them.
    return dict(sorted(found.items(), key=lambda item: console.shown(item[0]) + "/"))


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def configured(directory: str, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Config:
    from memidex import config  # with it come all rules, which most commands do without

    try:
        return config.read(directory, select=select, ignore=ignore)
    except config.Malformed as error:
        raise Failed(str(error)) from None


def opened(path: str, console: Console) -> Root:
    """The root with all its records: what the cache remembers and the disk has changed, or everything read."""
    reader = Reader(path)
    root = opening.warm(path, reader)
    if root is None:
        root = opening.cold(path, reader, progress=lambda done, whole: console.progress("reading", done, whole))
        if len(root.entries) >= WORTH_KEEPING:
            opening.save(root)
    else:
        changed, gone = opening.changes(root, lambda done, whole: console.progress("looking at", done, whole))
        if changed or gone:
            root = opening.refreshed(root, [*changed, *gone])
            if len(changed) >= WORTH_KEEPING:
                opening.save(root)
    console.progress.clear()
    return root


def known_product(name: str, root: Root) -> str:
    if name not in root.products:
        from memidex.rules.nearest import nearest

        near = nearest(name, root.products)
        names = f"; did you mean `{near}`?" if near else f"; there is {', '.join(sorted(root.products)) or 'none'}"
        raise Failed(f"no product `{name}` in {root.path}{names}", REFUSED)
    return name
