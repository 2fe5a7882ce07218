"""Fills `bundled/`: the server's source in `tool`, what it depends on in `libs`, and what they fit in `bundle.json`.

    python bundle.py     with the Python that the package is for: compiled libraries fit one minor version of CPython

Libraries are those of `requirements.lock`, checked against its hashes, wheels only. They are installed again only
when the lock or the interpreter changes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

CLIENT = Path(__file__).resolve().parent
PROJECT = CLIENT.parent
LOCK = PROJECT / "requirements.lock"
BUNDLED = CLIENT / "bundled"
LIBS = BUNDLED / "libs"


def install_libraries() -> None:
    stamp = BUNDLED / ".made-from"
    wanted = hashlib.sha256(LOCK.read_bytes() + Path(__file__).read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(BUNDLED, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "install", "--no-compile", "--target", str(LIBS)]
    pip += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK)]
    if sys.platform == "linux":
        pip.append("--root-user-action=ignore")
    subprocess.run(pip, check=True)
    for leftover in [LIBS / "bin", LIBS / "Scripts", *LIBS.rglob("__pycache__"), *LIBS.rglob("*.pyi")]:
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    stamp.write_text(wanted)


def describe() -> dict[str, object]:
    """What the bundle fits; `compiled` are the modules whose loading proves it."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    compiled = sorted(str(path.relative_to(LIBS))[: -len(suffix)] for path in LIBS.rglob(f"*{suffix}"))
    return {
        "name": f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]} on {sysconfig.get_platform()}",
        "tag": sys.implementation.cache_tag,
        "compiled": [name.replace("/", ".").replace("\\", ".") for name in one_for_each_package(compiled)],
    }


def one_for_each_package(paths: list[str]) -> list[str]:
    first: dict[str, str] = {}
    for path in paths:
        first.setdefault(Path(path).parts[0], path)
    return list(first.values())


def main() -> None:
    install_libraries()
    tool = BUNDLED / "tool"
    shutil.rmtree(tool, ignore_errors=True)
    shutil.copytree(PROJECT / "server" / "memidex", tool / "memidex", ignore=shutil.ignore_patterns("__pycache__", ".memidex"))
    (BUNDLED / "bundle.json").write_text(json.dumps(describe(), indent=2) + "\n")


if __name__ == "__main__":
    main()
