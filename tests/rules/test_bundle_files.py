"""The rules about a bundle's files together: each fact is told once, and on a file where it can be seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memidex import example
from memidex.rules import engine
from memidex.rules.rule import Finding
from memidex.store import opening
from memidex.text import Edit, apply

ID = "fact-el-textbox-search-komazon-612eabcf3c2e3451"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A healthy bundle of a root of its own."""
    shutil.copytree(example.path(), tmp_path / "agent-qa-knowledge")
    return tmp_path / "agent-qa-knowledge" / "memory" / "komazon" / "bundles" / ID


def findings(folder: Path) -> list[Finding]:
    root = opening.cold(folder.parents[3].as_posix())
    return engine.check_entry(root.entries[folder.as_posix()], root)


def told(folder: Path) -> list[tuple[str, str]]:
    """(rule, file) of each finding."""
    return [(finding.rule.name, finding.path.removeprefix(folder.as_posix() + "/")) for finding in findings(folder)]


def write(name: str, data: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(data)

    return change


def append(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + data) and None


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def rewrite_log(folder: Path) -> None:
    log = folder / "evidence" / "outcomes.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"type":"helpful"', b'"type":"harmful"', 1))


EVENT = b'{"buildOrdinal":9,"origin":"user","type":"helpful"}\n'


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda _folder: None, []),
        (append("evidence/outcomes.jsonl", EVENT), []),
        (append("record.md", b"\nOne more line.\n"), [("edited-since-sealed", "record.md")]),
        (append("evidence/evidence.md", b"\n"), [("edited-since-sealed", "evidence/evidence.md")]),
        (rewrite_log, [("log-rewritten", "evidence/outcomes.jsonl")]),
        (remove("provenance.json"), [("missing-file", "manifest.json")]),
        (remove("evidence/evidence.md"), [("missing-file", "manifest.json")]),
        (remove("evidence/gates.jsonl"), [("listed-file-missing", "manifest.json")]),
        (remove("manifest.json"), [("missing-file", "record.md")]),
        (write("notes.txt", b"x"), [("unlisted-file", "notes.txt")]),
        (write(".DS_Store", b"x"), []),
        (write(".record.md.swp", b"x"), [("left-over-temporary", ".record.md.swp")]),
        (write("manifest.json", b"{"), [("bad-json", "manifest.json")]),
        (write("manifest.json", b'{"files":7}'), [("bad-value", "manifest.json")]),
        (lambda folder: (folder / "notes").mkdir(), [("unlisted-file", "manifest.json")]),
        (lambda folder: (folder / "artifacts").mkdir(), []),
        (
            lambda folder: shutil.rmtree(folder / "evidence") or (folder / "evidence").symlink_to("/"),
            [("link-leaves-root", "evidence")],
        ),
    ],
)
def test_each_fact_is_told_once(folder: Path, change: Callable[[Path], None], expected: list[tuple[str, str]]) -> None:
    change(folder)
    assert told(folder) == expected


def test_an_empty_folder_is_one_finding(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    root = opening.cold(folder.parents[3].as_posix())
    bundle = opening.read_bundle(folder.as_posix(), root.path)
    assert bundle
    assert [(finding.rule.name, finding.message.split(":")[0]) for finding in engine.check_texts(bundle, root)] == [
        ("missing-file", "the folder holds no record")
    ]


def test_the_lack_of_a_file_matters_as_much_as_the_format_says(folder: Path) -> None:
    (folder / "provenance.json").unlink()
    (folder / "observations.jsonl").unlink()
    assert [(finding.severity, finding.message) for finding in findings(folder)] == [
        ("warning", "observations.jsonl is missing"),
        ("error", "provenance.json is missing"),
    ]


def test_a_missing_record_is_reported_at_the_manifests_entry(folder: Path) -> None:
    (folder / "record.md").unlink()
    found = findings(folder)
    assert told(folder) == [("missing-file", "manifest.json")]
    text = (folder / "manifest.json").read_text()
    assert text[found[0].span.start : found[0].span.end] == '"record.md"'


def test_a_checkout_with_other_line_ends_is_one_finding_that_says_so(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = findings(folder)
    assert [finding.rule.name for finding in found] == ["edited-since-sealed"]
    assert "only by line ends" in found[0].message
    assert "6 more" in found[0].message


def test_an_edit_beside_such_a_checkout_is_told_apart(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    record = folder / "record.md"
    record.write_bytes(record.read_bytes().replace(b"every page", b"each page"))
    found = findings(folder)
    assert [finding.rule.name for finding in found] == ["edited-since-sealed"] * 2
    assert next(finding for finding in found if finding.path.endswith("record.md")).message.startswith(
        "record.md is not what"
    )


def test_a_manifest_of_unknown_shape_is_a_warning_and_another_bad_value_an_error(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"files":7}')
    assert [(finding.rule.name, finding.severity) for finding in findings(folder)] == [("bad-value", "warning")]
    (folder / "manifest.json").unlink()
    (folder / "provenance.json").write_text('{"buildOrdinal":-1}')
    assert ("bad-value", "error") in [(finding.rule.name, finding.severity) for finding in findings(folder)]


@pytest.mark.parametrize(("entry", "wrong"), [('"zz"', '"zz"'), ('{"hash":"HASH","size":"x"}', '"x"'), ("7", "7")])
def test_one_wrong_entry_of_a_manifest_is_an_error_at_itself(folder: Path, entry: str, wrong: str) -> None:
    manifest = folder / "manifest.json"
    value = json.loads(manifest.read_text())
    value["files"]["record.md"] = json.loads(entry.replace("HASH", "0" * 64))
    manifest.write_text(json.dumps(value))
    (finding,) = findings(folder)
    assert (finding.rule.name, finding.severity) == ("bad-value", "error")
    assert manifest.read_text()[finding.span.start : finding.span.end] == wrong


def test_other_keys_beside_relations_by_type_are_the_writers_own(folder: Path) -> None:
    relations = folder / "relations.json"
    relations.write_text('{"schemaVersion":2,"derived-from":["fact-el-gone-0000000000000000"],"by":"x"}')
    assert [rule for rule, name in told(folder) if name == "relations.json"] == [
        "edited-since-sealed",
        "relation-to-nowhere",
    ]
    relations.write_text('{"schemaVersion":2,"by":"x"}')
    assert ("bad-relation", "relations.json") in told(folder)


def test_a_short_id_that_nobody_knows_here_is_one_finding_on_every_machine(folder: Path) -> None:
    (folder / "relations.json").write_text('{"relations":[{"type":"derived-from","target":"mem-77"}]}')
    assert [rule for rule, name in told(folder) if name == "relations.json"] == [
        "edited-since-sealed",
        "machine-local-target",
    ]


def of_ledger(folder: Path, data: bytes) -> list[Finding]:
    ledger = folder.parents[1] / "runs.jsonl"
    ledger.write_bytes(data)
    root = opening.cold(folder.parents[3].as_posix())
    return [finding for finding in engine.check_root(root) if finding.path == ledger.as_posix()]


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (b'{"ordinal":1}\n', []),
        (b'{"ordinal":1,"run":"\xff"}\n', ["bad-encoding"]),
        ('{"ordinal":1}\n'.encode("utf-16"), ["bad-encoding"]),
        (b'{"ordinal":1,"run":"ghp_' + b"a1B2c3D4e5F6g7H8i9J0" * 2 + b'"}\n', ["secret-in-text"]),
        ('{"ordinal":1,"run":"a\u200bb"}\n'.encode(), ["hidden-characters"]),
        (b'{"ordinal":1}\n{oops\n', ["bad-json"]),
    ],
)
def test_a_run_ledger_is_looked_at_as_every_text_is(folder: Path, data: bytes, rules: list[str]) -> None:
    found = of_ledger(folder, data)
    assert [(finding.rule.name, finding.record) for finding in found] == [(rule, None) for rule in rules]


def test_a_conflict_in_a_run_ledger_can_be_settled(folder: Path) -> None:
    ours, theirs = '{"ordinal":1,"run":"a"}\n', '{"ordinal":1,"run":"b"}\n'
    text = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"
    (finding,) = of_ledger(folder, text.encode())
    both = finding.fixes[0]
    assert both.title == "Keep the lines of both sides"
    assert apply(text, [Edit(edit.span, edit.text) for edit in both.edits]) == ours + theirs


def test_backslashes_in_a_manifest_are_told_and_its_files_are_found_all_the_same(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("evidence/outcomes", "evidence\\\\outcomes"))
    found = findings(folder)
    assert [finding.rule.name for finding in found] == ["path-leaves-bundle"]
    assert '"evidence/outcomes.jsonl" means the same on every system' in found[0].message
