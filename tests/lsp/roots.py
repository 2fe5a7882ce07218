"""Roots for tests of the server: a sketch, and one of many records by copying."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from sketch import Sketch, record_id, sketch

WRONG = 'status: "active"'
"""A line of the frontmatter that is a finding, `stored-derived-field`, with a safe fix."""
FINDING = "stored-derived-field"


def healthy(folder: Path) -> Sketch:
    return sketch("-- record.md --\n", folder)


def wrong(folder: Path) -> Sketch:
    return sketch(f"-- record.md --\n{WRONG}\n", folder)


def many(folder: Path, count: int, every_wrong: int = 0) -> Sketch:
    """A root of many healthy records; with `every_wrong` each so-manieth has a finding in its `record.md`."""
    made = sketch("-- record.md --\n", folder)
    first = made.path("record.md").parent
    name = record_id("a")
    for number in range(count - 1):
        nick = f"r{number}"
        here = first.parent / record_id(nick)
        copy(first, here, name, record_id(nick), nick, number)
        made.ids[nick] = here.name
        if every_wrong and number % every_wrong == 0:
            break_record(here)
    return made


def copy(source: Path, target: Path, old: str, new: str, nick: str, number: int) -> None:
    (target / "evidence").mkdir(parents=True)
    for file in source.rglob("*"):
        if file.is_file() and file.name != "manifest.json":
            text = (
                file.read_text().replace(old, new).replace('"name":"a"', f'"name":"{nick}"').replace("a-1", f"{nick}-1")
            )
            text = text.replace('{"tier":"product","key":"shop"}', f'{{"tier":"test","key":"t{number}"}}')
            text = text.replace('button "a"', f'button "{nick}"').replace("a-2", f"{nick}-2")
            (target / file.relative_to(source)).write_text(text)
    seal(target)


def seal(bundle: Path) -> None:
    files = {
        path.relative_to(bundle).as_posix(): {
            "hash": hashlib.sha256(path.read_bytes()).hexdigest(),
            "size": path.stat().st_size,
        }
        for path in sorted(bundle.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }
    (bundle / "manifest.json").write_text(
        json.dumps({"schemaVersion": 2, "algorithm": "sha256", "files": files}) + "\n"
    )


def break_record(bundle: Path) -> None:
    """Give a record the finding."""
    record = bundle / "record.md"
    record.write_text(with_wrong(record.read_text()))
    seal(bundle)


def mend_record(bundle: Path) -> None:
    record = bundle / "record.md"
    record.write_text(record.read_text().replace(WRONG + "\n", ""))
    seal(bundle)


def with_wrong(text: str) -> str:
    return text.replace("---\n\n## Summary", f"{WRONG}\n---\n\n## Summary", 1)


def remove(bundle: Path) -> None:
    shutil.rmtree(bundle)
