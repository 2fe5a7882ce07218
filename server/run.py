#!/usr/bin/env python3
"""From a fresh clone to a running memidex: makes `.venv` from the hashed lock, then runs what was asked.

    python3 server/run.py demo          the demonstration
    python3 server/run.py test [STEP]   every gate and every test, or the named steps
    python3 server/run.py ARGUMENTS     any other memidex command

Only the standard library: nothing is installed yet when this runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LOCK = PROJECT / "requirements-dev.lock"
ENVIRONMENT = PROJECT / ".venv"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")


def prepare() -> None:
    """Bring `.venv` to what the lock says; nothing is done where it is there already."""
    wanted = hashlib.sha256(LOCK.read_bytes() + (PROJECT / "pyproject.toml").read_bytes() + sys.version.encode())
    stamp = ENVIRONMENT / ".made-from"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted.hexdigest():
        return
    print("memidex: installing into .venv (once)", file=sys.stderr, flush=True)
    try:
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
    except subprocess.CalledProcessError:
        sys.exit("memidex: this Python cannot make a virtual environment; on Debian: apt-get install python3-venv")
    install("--require-hashes", "-r", str(LOCK))
    install("--no-deps", "--no-build-isolation", "--editable", str(PROJECT))
    stamp.write_text(wanted.hexdigest())


def install(*arguments: str) -> None:
    pip = [str(PYTHON), "-m", "pip", "-qq", "--disable-pip-version-check", "install", *arguments]
    if subprocess.run(pip, cwd=PROJECT, check=False).returncode:
        sys.exit("memidex: pip could not install the locked packages; its message stands above")


def main() -> int:
    if sys.version_info < (3, 11):
        return f"memidex needs Python 3.11 or newer; this is {sys.version.split()[0]}"  # type: ignore[return-value]
    prepare()
    match sys.argv[1:]:
        case ["test", *steps]:
            command = [str(PYTHON), str(PROJECT / "tests" / "all.py"), *steps]
        case arguments:
            command = [str(PYTHON), "-m", "memidex", *arguments]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
