"""The one module that touches files: finding roots, reading bundles, stamps that tell a change, and machine-local state.

Errors of the world are answered where they concern one file (a `Fault`, which a rule reports) and raised as `OSError`
where the root itself cannot be read.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
import zlib
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from memidex.records.memidex.bundle import WHOLE, Fault
from memidex.records.memidex.vocabulary import FILES, MAX_FILE_SIZE

# Not following a link and not waiting for a pipe's other end cost nothing where they are asked for at opening.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
TOP = frozenset(name for name in FILES if "/" not in name)
EVIDENCE = frozenset(name.removeprefix("evidence/") for name in FILES if name.startswith("evidence/"))
NAMES = {name: name for name in FILES}
SHAPES: dict[tuple[str, ...], tuple[str, ...]] = {}
"""The few sets of file names that bundles have, each kept once."""
UNSEARCHED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", ".memidex", ".tox", ".cache"})
MAX_SEARCHED = 100_000
"""Folders looked at for roots: a workspace at someone's home ends the search instead of the machine."""
NOT_A_FILE = "there is a folder or a device where a file belongs"
STATE = ".memidex"
MAX_STATE = 1 << 30
"""Bytes of a machine-local file that is still believed to be ours."""
SETTLED = 2_000_000_000
"""Nanoseconds after which a file system surely tells two writes apart by their times."""
PATIENCE = 5
"""Seconds to wait for another process that holds a lock."""


class Stamp(NamedTuple):
    """What tells that a bundle changed: the times of its two folders, and of each file (time, size, inode).

    The time is that of the inode where there is one: unlike the mtime it cannot be put back, as archive tools do.
    """

    names: tuple[str, ...]
    numbers: bytes


UNLISTED = Stamp((), b"")
"""Of a bundle whose files were opened by name, without a look at what else is there or at their times."""


class Contents(NamedTuple):
    """The files of a bundle's folder as they are on disk."""

    files: dict[str, bytes]
    others: tuple[str, ...]
    faults: dict[str, Fault]
    stamp: Stamp


def read(directory: str, root: str) -> Contents | None:
    """The files of one bundle, by listing its folders; None where the folder is not there."""
    faults: dict[str, Fault] = {}
    try:
        numbers = folder_numbers(directory)
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        closed = Fault("unreadable", f"the bundle's folder cannot be read: {error.strerror or error}")
        return Contents({}, (), {WHOLE: closed}, UNLISTED)
    wanted = [name for name in names if name in TOP]
    evidence: list[str] = []
    if "evidence" in names:
        evidence = evidence_names(directory, root, faults)
        wanted += [f"evidence/{name}" for name in evidence if name in EVIDENCE]
    files: dict[str, bytes] = {}
    wanted.sort()
    read_files(directory, wanted, root, files, faults, numbers)
    others = [
        *(name for name in names if name not in TOP and name not in ("evidence", "artifacts")),
        *(f"evidence/{name}" for name in evidence if name not in EVIDENCE),
    ]
    for name in others:
        extra(directory, name, root, files, faults)
    return Contents(files, tuple(sorted(map(printable, others))), faults, stamp_of(wanted, numbers))


def read_known(directory: str, root: str) -> Contents | None:
    """The files of one bundle by their names: neither its folders are listed nor are its files looked at but to read.

    That halves what a cold start costs. What it cannot tell (other files, times, a rare file that the manifest does not
    name) the stamp says it does not know: the next `changes` reads the bundle again in full. Whatever is out of the
    ordinary is read in full at once.
    """
    try:
        if not stat.S_ISDIR(os.lstat(f"{directory}/evidence").st_mode):
            return read(directory, root)
        files: dict[str, bytes] = {}
        open_, read_, close = os.open, os.read, os.close
        for name in COMMON:
            handle = open_(f"{directory}/{name}", OPEN_FLAGS)
            try:
                files[name] = data = read_(handle, SMALL)
            finally:
                close(handle)
            if len(data) == SMALL or not data:
                return read(directory, root)
        manifest = files["manifest.json"]
        for name, quoted in RARE:
            if quoted in manifest:
                files[name] = read_file(f"{directory}/{name}")
    except OSError:
        return read(directory, root)
    return Contents(files, (), {}, UNLISTED)


SMALL = 1 << 16


def read_listed(directory: str, root: str) -> Contents | None:
    """As `read`, but without a stamp where all is ordinary: for who reads everything once and keeps nothing."""
    found = read_known(directory, root)
    if found is None or found.stamp is not UNLISTED:
        return found
    try:
        names = {*os.listdir(directory), *[f"evidence/{name}" for name in os.listdir(f"{directory}/evidence")]}
    except OSError:
        return read(directory, root)
    names -= {"evidence", "artifacts"}
    return found if names == found.files.keys() else read(directory, root)


COMMON = sorted(name for name, needed in FILES.items() if needed)
RARE = [(name, f'"{name}"'.encode()) for name, needed in FILES.items() if not needed]


def stamp_of(names: list[str], numbers: list[int]) -> Stamp:
    shape = tuple(names)
    kept = SHAPES.get(shape)
    if kept is None:
        kept = SHAPES[shape] = tuple([NAMES[name] for name in names])
    return Stamp(kept, array("Q", numbers).tobytes())


def read_files(
    directory: str, names: list[str], root: str, files: dict[str, bytes], faults: dict[str, Fault], numbers: list[int]
) -> None:
    """Read files of a bundle, and note the numbers of each for its stamp; one that is not there is left out."""
    # One loop with everything in it: this is where a cold start spends its time.
    open_, fstat, read_, close = os.open, os.fstat, os.read, os.close
    for name in names:
        path = f"{directory}/{name}"
        try:
            handle = open_(path, OPEN_FLAGS)
        except OSError as error:
            found = fault(path, error, root)
            if found is None and error.errno == errno.ELOOP:  # a link that stays in the root
                try:
                    files[name] = read_file(os.path.realpath(path))
                except OSError as behind:
                    found = failed(behind)
            if found is not None:
                faults[name] = found
            numbers += file_numbers(path)
            continue
        try:
            info = fstat(handle)
            size = info.st_size
            numbers += (info.st_ctime_ns, size, info.st_ino) if POSIX else numbers_of(info)
            if info.st_mode & 0o170000 != 0o100000:
                faults[name] = Fault("not-a-file", NOT_A_FILE)
            elif size > MAX_FILE_SIZE:
                faults[name] = Fault("too-large", too_large(size))
            else:
                data = read_(handle, size + 1)
                files[name] = data if len(data) == size else data + rest(handle, MAX_FILE_SIZE)
        except OSError as error:
            faults[name] = failed(error)
        finally:
            close(handle)


def evidence_names(directory: str, root: str, faults: dict[str, Fault]) -> list[str]:
    """What is in a bundle's `evidence/`, unless that is a link out of the root."""
    folder = f"{directory}/evidence"
    try:
        if os.path.islink(folder) and (leaving := leaves(folder, root)):
            faults["evidence"] = leaving
            return []
        return os.listdir(folder)
    except OSError as error:
        faults["evidence"] = fault(folder, error, root) or failed(error)
        return []


def extra(directory: str, name: str, root: str, files: dict[str, bytes], faults: dict[str, Fault]) -> None:
    """A file that is none of the format's: its bytes, since a manifest may list it."""
    path = f"{directory}/{name}"
    name = printable(name)
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            leaving = leaves(path, root)
            if leaving:
                faults[name] = leaving
        elif stat.S_ISREG(info.st_mode) and info.st_size <= MAX_FILE_SIZE:
            files[name] = read_file(path)
    except OSError:
        return


def printable(name: str) -> str:
    """A name as it can be shown: what in it is not UTF-8, which no protocol takes, is replaced."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "replace")


def read_other(path: str, root: str) -> bytes | Fault | None:
    """The bytes of a file of a root that is in no bundle; None where it is not there."""
    try:
        return read_file(path)
    except OSError as error:
        found = fault(path, error, root)
        if found is None and error.errno == errno.ELOOP:
            try:
                return read_file(os.path.realpath(path))
            except OSError as behind:
                return failed(behind)
        return found


def too_large(size: int) -> str:
    return f"{size:,} bytes; files over {MAX_FILE_SIZE:,} are not read"


def rest(handle: int, limit: int) -> bytes:
    """What is left to read of a file that grew while it was read, or whose size is not told."""
    parts: list[bytes] = []
    total = 0
    while total < limit:
        part = os.read(handle, 1 << 20)
        if not part:
            break
        parts.append(part)
        total += len(part)
    return b"".join(parts)


def fault(path: str, error: OSError, root: str) -> Fault | None:
    """What to say of a file that could not be opened; None where it is gone, or a link that stays in the root."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return leaves(path, root) if os.path.islink(path) else None
    if error.errno == errno.ELOOP or os.path.islink(path):
        return leaves(path, root)
    return failed(error)


def failed(error: OSError) -> Fault:
    """What to say of a file that is there and was not read."""
    if error.errno == errno.EFBIG:
        return Fault("too-large", str(error.strerror))
    if error.errno == errno.EINVAL:
        return Fault("not-a-file", NOT_A_FILE)
    return Fault("unreadable", f"it cannot be read: {error.strerror or error}")


def leaves(path: str, root: str) -> Fault | None:
    """A fault where a symbolic link goes out of the root, in a circle, or nowhere."""
    target = os.path.realpath(path)
    if not os.path.exists(target):
        return Fault("link", "a symbolic link in a circle or to nothing")
    if os.path.commonpath([os.path.realpath(root), target]) != os.path.realpath(root):
        return Fault("link", "a symbolic link out of the knowledge root; it is not followed")
    if not os.path.isfile(target) and not os.path.isdir(target):
        return Fault("not-a-file", "a link to something that is no file")
    return None


POSIX = os.name != "nt"


def numbers_of(info: os.stat_result) -> tuple[int, int, int]:
    return (info.st_ctime_ns if POSIX else info.st_mtime_ns), info.st_size, info.st_ino


def folder_numbers(directory: str) -> list[int]:
    numbers = [os.stat(directory).st_mtime_ns]
    try:
        numbers.append(os.stat(f"{directory}/evidence").st_mtime_ns)
    except OSError:
        numbers.append(0)
    return numbers


def stamp(directory: str, names: Iterable[str]) -> bytes:
    """The numbers of a stamp over these names, as they are now; empty where the bundle is gone."""
    stat_ = os.stat
    try:
        numbers = folder_numbers(directory)
    except OSError:
        return b""
    for name in names:
        try:
            info = stat_(f"{directory}/{name}")
            numbers += (info.st_ctime_ns, info.st_size, info.st_ino) if POSIX else numbers_of(info)
        except OSError:
            numbers += (0, 0, 0)
    return array("Q", numbers).tobytes()


def youngest(numbers: bytes) -> int:
    """The newest time in a stamp, in nanoseconds since 1970."""
    whole = array("Q", numbers)
    return max(whole[:2] + whole[2::3], default=0)


def settled(numbers: bytes) -> bool:
    """Whether a stamp is old enough that a write since would show in it, on the coarsest clock of a file system."""
    return time.time_ns() - youngest(numbers) > SETTLED


def read_file(path: str, limit: int = MAX_FILE_SIZE) -> bytes:
    """A file's bytes. Raises `OSError`, also for what is no file and for one over the limit; a link is not followed."""
    handle = os.open(path, OPEN_FLAGS)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, NOT_A_FILE, path)
        if info.st_size > limit:
            raise OSError(errno.EFBIG, too_large(info.st_size), path)
        return rest(handle, limit)
    finally:
        os.close(handle)


def file_numbers(path: str) -> tuple[int, int, int]:
    """(time, size, inode) of a file; zeros where it is not there."""
    try:
        return numbers_of(os.stat(path))
    except OSError:
        return 0, 0, 0


# Roots ----------------------------------------------------------------------------------------------------------------


def is_root(directory: str) -> bool:
    """Whether a folder has `memory/<product>/bundles/` (contract, section 1)."""
    return any(True for _ in products(directory))


def products(root: str) -> Iterator[tuple[str, str]]:
    """(name, path of its bundles) of every product of a root; a link is followed at no level."""
    if os.path.islink(f"{root}/memory"):
        return
    try:
        with os.scandir(f"{root}/memory") as found:
            names = sorted(
                item.name for item in found if item.is_dir(follow_symlinks=False) and printable(item.name) == item.name
            )
    except OSError:
        return
    for name in names:
        bundles = f"{root}/memory/{name}/bundles"
        if os.path.isdir(bundles) and not os.path.islink(bundles):
            yield name, bundles


def product_links(root: str) -> list[str]:
    """The symbolic links where a product's folder, or its `bundles/`, belongs; they are not followed."""
    if os.path.islink(f"{root}/memory"):
        return []
    try:
        with os.scandir(f"{root}/memory") as found:
            names = sorted((item.name, item.is_symlink()) for item in found if printable(item.name) == item.name)
    except OSError:
        return []
    linked = [f"{root}/memory/{name}" for name, is_link in names if is_link]
    inside = [f"{root}/memory/{name}/bundles" for name, is_link in names if not is_link]
    return [*linked, *(path for path in inside if os.path.islink(path))]


def bundles(folder: str) -> tuple[list[str], list[str]]:
    """(folders of bundles, links among them) below a product's `bundles/`, as paths."""
    real: list[str] = []
    links: list[str] = []
    try:
        with os.scandir(folder) as found:
            for item in found:
                if printable(item.name) != item.name:
                    continue  # no address could name it
                if item.is_symlink():
                    links.append(f"{folder}/{item.name}")
                elif item.is_dir() and not item.name.startswith("."):
                    real.append(f"{folder}/{item.name}")
    except OSError:
        return [], []
    return sorted(real), sorted(links)


def root_above(path: str) -> str | None:
    """The root that holds `path`, by walking up; None where there is none."""
    here = os.path.abspath(path)
    while True:
        if is_root(here):
            return here.replace("\\", "/")
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def roots_below(directory: str, goes_on: Callable[[], bool] = lambda: True) -> list[str]:
    """Every root in a folder or below it; what git ignores, hidden and installed folders are not searched.

    Ends early, with what was found, when `goes_on` says so or after `MAX_SEARCHED` folders.
    """
    from pathspec import GitIgnoreSpec

    top = os.path.abspath(directory)
    found: list[str] = []
    specs: dict[str, tuple[tuple[str, GitIgnoreSpec], ...]] = {top: ()}
    searched = 0
    waiting = [top]
    while waiting:
        here = waiting.pop()
        searched += 1
        if searched > MAX_SEARCHED or not goes_on():
            break
        rules = specs.pop(here, ())
        try:
            with os.scandir(here) as items:
                names = [item.name for item in items if item.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        if "memory" in names and is_root(here):
            found.append(here.replace("\\", "/"))
            continue
        ignore = os.path.join(here, ".gitignore")
        if os.path.isfile(ignore):
            try:
                lines = read_file(ignore).decode("utf-8", "replace").splitlines()
                rules = (*rules, (here, GitIgnoreSpec.from_lines(lines)))
            except (OSError, ValueError):
                pass
        for name in sorted(names, reverse=True):
            child = os.path.join(here, name)
            if name in UNSEARCHED or any(spec.match_file(os.path.relpath(child, base) + "/") for base, spec in rules):
                continue
            specs[child] = rules
            waiting.append(child)
    return sorted(found)


# Machine-local state --------------------------------------------------------------------------------------------------


def state_folder(root: str) -> str:
    """`.memidex/` of a root, made with its own `.gitignore` where it is not there; raises `OSError`."""
    folder = f"{root}/{STATE}"
    if os.path.islink(folder) and leaves(folder, root):
        raise OSError(errno.ELOOP, "the machine-local state is a link out of the knowledge root", folder)
    os.makedirs(folder, exist_ok=True)
    ignore = f"{folder}/.gitignore"
    if not os.path.exists(ignore):
        replace(ignore, b"*\n")
    return folder


def read_state(root: str, name: str) -> bytes:
    """A file of the machine-local state, whole; raises `OSError`."""
    return read_file(f"{root}/{STATE}/{name}", MAX_STATE)


@contextmanager
def locked(root: str, name: str) -> Generator[str]:
    """The path of a file of the machine-local state while no other process writes it; raises `OSError`."""
    from filelock import FileLock

    path = f"{state_folder(root)}/{name}"
    with FileLock(f"{os.path.splitext(path)[0]}.lock", timeout=PATIENCE):  # its Timeout is an OSError
        yield path


def append(path: str, data: bytes) -> None:
    """Add whole lines to the end of a file in one write, after its last line was completed; raises `OSError`."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    try:
        if os.fstat(handle).st_size:
            os.lseek(handle, -1, os.SEEK_END)
            if os.read(handle, 1) != b"\n":
                data = b"\n" + data
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(path: str, data: bytes) -> None:
    """Put `data` where `path` is in one step: after a crash the old or the new content is there. Raises `OSError`."""
    temporary = f"{os.path.dirname(path)}/.memidex-{secrets.token_hex(8)}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# Writing to bundles ---------------------------------------------------------------------------------------------------

LOCK, HOLDER, JOURNAL = "lock", "holder", "journal/change"
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Busy(OSError):
    """Another process holds the root's lock, and did not let go of it in time."""


class CannotLock(OSError):
    """The file system cannot lock files."""


class Moved(OSError):
    """Another program put something else where a file was, while it was being written; nothing of ours is there."""


@contextmanager
def holding(root: str, who: str, patience: float = PATIENCE) -> Generator[None]:
    """The one lock of a root, while no other process writes to its bundles (contract, section 11).

    Raises `Busy` with a message that names the holder, `CannotLock`, and `OSError` where the state cannot be written.
    A holder that is killed lets go: the lock is the operating system's.
    """
    from filelock import FileLock, Timeout

    folder = state_folder(root)
    # A soft lock would outlive a holder that was killed.
    options: dict[str, Any] = {"fallback_to_soft": False} if hasattr(FileLock, "fallback_to_soft") else {}
    lock = FileLock(f"{folder}/{LOCK}", timeout=patience, **options)
    try:
        lock.acquire()
    except Timeout:
        raise Busy(errno.EAGAIN, f"{holder(root)} is writing to it", root) from None
    except NotImplementedError:
        raise CannotLock(errno.ENOLCK, "its file system cannot lock files", root) from None
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise CannotLock(errno.ENOLCK, f"its file system cannot lock files: {error.strerror}", root) from None
        raise
    try:
        name_holder(f"{folder}/{HOLDER}", who)
        yield
    finally:
        lock.release()


def name_holder(path: str, who: str) -> None:
    """Write beside the lock who holds it; for messages alone, so that a failure is none."""
    with suppress(OSError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_FOLLOW, 0o666)
        try:
            os.write(handle, f"{printable(who)} (process {os.getpid()}{host()})\n".encode()[:500])
        finally:
            os.close(handle)


def host() -> str:
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f" on {name}" if name else ""


def holder(root: str) -> str:
    """Who holds the root's lock, as it told."""
    try:
        text = read_file(f"{root}/{STATE}/{HOLDER}", 500).decode("utf-8", "replace").strip()
    except OSError:
        text = ""
    return text or "another process"


def write_journal(root: str, data: bytes) -> None:
    """Put down what is about to be done, and let it reach the disk; with a checksum, since it is written in place."""
    path = f"{state_folder(root)}/{JOURNAL}"
    folder = os.path.dirname(path)
    new = not os.path.exists(path)
    os.makedirs(folder, exist_ok=True)
    whole = zlib.crc32(data).to_bytes(4, "big") + data
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | NO_FOLLOW, 0o666)
    try:
        write_whole(handle, whole)
        os.ftruncate(handle, len(whole))
        os.fsync(handle)
    finally:
        os.close(handle)
    if new:  # once in the life of a root
        sync_folder(folder)
        sync_folder(os.path.dirname(folder))


def read_journal(root: str) -> bytes | None:
    """What was about to be done; None where nothing was, or where it was not put down whole."""
    try:
        data = read_file(f"{root}/{STATE}/{JOURNAL}", MAX_STATE)
    except OSError:
        return None
    return data[4:] if len(data) > 4 and zlib.crc32(data[4:]).to_bytes(4, "big") == data[:4] else None


def clear_journal(root: str) -> None:
    """Nothing is left to be done. That need not reach the disk: to do it again changes nothing."""
    handle = os.open(f"{root}/{STATE}/{JOURNAL}", os.O_WRONLY | NO_FOLLOW)
    try:
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def is_plain_folder(path: str, root: str) -> bool:
    """Whether a path below a root is a folder, and neither it nor any folder between the two is a link."""
    here = root
    for name in path.removeprefix(root + "/").split("/"):
        here = f"{here}/{name}"
        try:
            if name in ("", ".", "..") or not stat.S_ISDIR(os.lstat(here).st_mode):
                return False
        except OSError:
            return False
    return True


def is_writable(path: str) -> bool:
    """Whether this process may write to a file that is there, or change what is in a folder."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def exists(path: str) -> bool:
    """Whether anything is there, a link to nothing included."""
    return os.path.lexists(path)


def write_whole(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def append_lines(path: str, data: bytes) -> None:
    """Add bytes to the end of a file that is there, in one write that reaches the disk; a link is not followed.

    Where it does not fit, what was written of it is taken away again, unless somebody wrote behind it. Raises `OSError`;
    `Moved` where the file that was written to is no longer the one at the path.
    """
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | NO_FOLLOW)
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, NOT_A_FILE, path)
        done = 0
        try:
            while done < len(data):
                done += os.write(handle, data[done:])
            os.fsync(handle)
        except OSError:
            if done and os.fstat(handle).st_size == info.st_size + done:
                os.ftruncate(handle, info.st_size)
            raise
        if not is_at(info, path):
            raise Moved(errno.ESTALE, "another program replaced it while it was written to", path)
    finally:
        os.close(handle)


def is_at(info: os.stat_result, path: str) -> bool:
    """Whether a file that is open is the one at a path."""
    try:
        return os.path.samestat(info, os.lstat(path))
    except OSError:
        return False


def put(path: str, data: bytes, *, sync: bool = True, still: Callable[[], bool] = lambda: True) -> None:
    """Put `data` where `path` is, in one step: a temporary file beside it, then a rename; each reaches the disk.

    `still` is asked last, right before the rename: whether what `data` was made from is as it was; else `Moved` is raised.

    A temporary file that a killed writer left is used again; only the holder of the root's lock calls this. Without `sync`
    the rename may be lost with the power, and the old file is there again.
    """
    folder, _, name = path.rpartition("/")
    temporary = f"{folder}/.memidex-{name}.tmp"
    with suppress(FileNotFoundError):
        os.unlink(temporary)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o666)
    try:
        try:
            with suppress(OSError):
                before = os.lstat(path)
                if stat.S_ISREG(before.st_mode) and POSIX:
                    os.fchmod(handle, stat.S_IMODE(before.st_mode))
            write_whole(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        if not still():
            raise Moved(errno.ESTALE, "another program keeps changing it", path)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if sync:
        sync_folder(folder)


def make_bundle(directory: str, files: Mapping[str, bytes]) -> None:
    """Make a bundle's folder in one step: whole in a temporary folder beside the others, then renamed into place."""
    import shutil

    folder, _, name = directory.rpartition("/")
    temporary = f"{folder}/.memidex-{name[-40:]}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    os.mkdir(temporary)
    try:
        below = sorted({os.path.dirname(f"{temporary}/{file}") for file in files} | {temporary})
        for path in below:
            os.makedirs(path, exist_ok=True)
        for file, data in files.items():
            handle = os.open(f"{temporary}/{file}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o666)
            try:
                write_whole(handle, data)
                os.fsync(handle)
            finally:
                os.close(handle)
        for path in reversed(below):
            sync_folder(path)
        os.rename(temporary, directory)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(folder)


def remove_bundle(directory: str) -> None:
    """Remove a bundle's folder: first out of sight in one step, then from the disk."""
    import shutil

    folder, _, name = directory.rpartition("/")
    temporary = f"{folder}/.memidex-{name[-40:]}.tmp"
    if os.path.lexists(directory):
        shutil.rmtree(temporary, ignore_errors=True)
        os.rename(directory, temporary)
        sync_folder(folder)
    shutil.rmtree(temporary, ignore_errors=True)


def sync_folder(path: str) -> None:
    """Let the names in a folder reach the disk; a system that cannot do that for folders does it by itself."""
    if POSIX:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
