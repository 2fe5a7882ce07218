"""The generator of large roots: the same root for the same seed, and nothing wrong in it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from memidex.rules import engine
from memidex.store import opening
from tools.gen_root import generate


def digest(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(
        b"".join(path.relative_to(folder).as_posix().encode() + path.read_bytes() for path in files)
    ).hexdigest()


def test_a_generated_root_has_no_error_and_every_status(tmp_path: Path) -> None:
    size = generate(tmp_path, 400)
    root = opening.cold((tmp_path / "agent-qa-knowledge").as_posix())
    assert len(root.entries) == size.bundles == 400
    findings = [finding for entry in root.entries.values() for finding in engine.check_entry(entry, root)]
    findings += engine.check_root(root)
    assert [finding for finding in findings if finding.severity == "error"] == []
    assert {finding.rule.name for finding in findings if finding.severity == "warning"} <= {"conflicting-records"}
    assert {entry.status for entry in root.entries.values()} == {"candidate", "active", "superseded", "deprecated"}
    assert 7.0 < size.files / size.bundles < 7.6


def test_one_seed_gives_one_root(tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        generate(tmp_path / name, 40, seed)
    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")
