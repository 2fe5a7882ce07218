"""`memidex check`: which roots and files it looks at, what it prints, and when it fails."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest
from command import inside, process

from memidex.cli.check import checked
from memidex.cli.console import Console
from memidex.rules import engine, registry
from memidex.rules.rule import ALL, Finding
from memidex.store import opening
from sketch import Sketch, sketch

BROKEN = """\
-- record.md --
kind: "fct"
status: "active"
-- b/record.md --
originClass: "robot"
-- c/record.md --
"""


@pytest.fixture
def drawn(tmp_path: Path) -> Sketch:
    return sketch(BROKEN, tmp_path)


def test_the_json_document_has_just_the_keys_of_the_contract(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "check", "--format", "json")
    assert done.code == 1
    document = done.json
    assert list(document) == ["version", "roots", "findings", "summary"]
    assert document["version"] == 1
    assert document["roots"] == ["agent-qa-knowledge"]
    assert list(document["summary"]) == ["error", "warning", "info", "hint", "records", "seconds"]
    assert document["summary"]["records"] == 3
    finding = next(item for item in document["findings"] if item["rule"] == "stored-derived-field")
    assert list(finding) == [
        "rule",
        "code",
        "severity",
        "message",
        "path",
        "range",
        "record",
        "related",
        "fixes",
    ]
    folder = f"agent-qa-knowledge/memory/shop/bundles/{drawn.ids['a']}"
    assert finding["code"] == "MX106"
    assert finding["severity"] == "error"
    assert finding["path"] == f"{folder}/record.md"
    assert finding["range"] == {"start": {"line": 11, "column": 1}, "end": {"line": 11, "column": 7}}
    assert finding["record"] == drawn.ids["a"]
    assert finding["fixes"] == ["Remove status"]


def test_columns_count_code_points_from_one(tmp_path: Path) -> None:
    sketch('-- record.md --\nscope: {"🛒次":1,"tier":"prodct","key":"shop"}', tmp_path)
    findings = inside(tmp_path, "check", "--format", "json").json["findings"]
    line = 'scope: {"🛒次":1,"tier":"prodct","key":"shop"}'
    wanted = line.index('"prodct"') + 1
    assert wanted in [item["range"]["start"]["column"] for item in findings if item["rule"] == "unknown-value"]


@pytest.mark.usefixtures("drawn")
def test_findings_are_sorted_by_path_position_and_code(tmp_path: Path) -> None:
    findings = inside(tmp_path, "check", "--format", "json").json["findings"]
    keys = [
        (item["path"], item["range"]["start"]["line"], item["range"]["start"]["column"], item["code"])
        for item in findings
    ]
    assert len(keys) >= 3
    assert keys == sorted(keys)


def test_findings_of_several_roots_are_sorted_by_path_as_one_list(tmp_path: Path) -> None:
    for name in ("kb", "kb-old", "kb.new"):
        sketch("-- record.md --\ntrust: 1\n", tmp_path / name)
    paths = [item["path"] for item in inside(tmp_path, "check", "--format", "json").json["findings"]]
    assert len({path.partition("/")[0] for path in paths}) == 3
    assert paths == sorted(paths)


def test_the_text_can_be_clicked(drawn: Sketch, tmp_path: Path) -> None:
    done = inside(tmp_path, "check")
    path = f"agent-qa-knowledge/memory/shop/bundles/{drawn.ids['a']}/record.md"
    lines = [text for text in done.out.splitlines() if text.startswith(f"{path}:11:1: error: ")]
    assert lines
    assert lines[0].endswith(" [stored-derived-field]")
    assert os.path.isfile(tmp_path / path)


def test_paths_outside_the_working_directory_are_absolute(drawn: Sketch, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    document = inside(other, "check", "..", "--format", "json").json
    assert document["roots"] == [drawn.root.as_posix()]
    assert all(item["path"].startswith(drawn.root.as_posix() + "/") for item in document["findings"])


def test_a_path_in_a_root_gives_the_findings_of_that_path_alone(drawn: Sketch, tmp_path: Path) -> None:
    def found(*paths: str) -> set[str]:
        return {item["record"] for item in inside(tmp_path, "check", *paths, "--format", "json").json["findings"]}

    a, b = drawn.ids["a"], drawn.ids["b"]
    assert found() == found(".") == found("agent-qa-knowledge") == {a, b}
    assert found(drawn.path("record.md").as_posix()) == {a}
    assert found(drawn.path("record.md", "b").parent.as_posix()) == {b}
    assert found(drawn.path("record.md", "c").parent.as_posix()) == set()
    assert found(drawn.path("evidence/outcomes.jsonl").as_posix()) == set()
    assert found("agent-qa-knowledge/memory/shop") == {a, b}
    assert found(drawn.path("record.md").as_posix(), drawn.path("record.md", "b").as_posix()) == {a, b}


def test_only_the_records_that_were_looked_at_are_counted(drawn: Sketch, tmp_path: Path) -> None:
    folder = drawn.path("record.md", "c").parent
    done = inside(folder, "check", ".", "--format", "json")
    assert (done.code, done.json["summary"]["records"]) == (0, 1)
    assert inside(folder, "check", "--format", "json").json["summary"]["records"] == 3


@pytest.mark.usefixtures("drawn")
def test_a_path_named_twice_is_checked_once(tmp_path: Path) -> None:
    once = inside(tmp_path, "check", "--format", "json").json["findings"]
    assert inside(tmp_path, "check", ".", "agent-qa-knowledge", "--format", "json").json["findings"] == once


def test_every_root_below_is_checked_but_those_of_installed_packages(tmp_path: Path) -> None:
    for place in ("one", "two/deep", "node_modules/x", ".venv/y", "ignored"):
        sketch('-- record.md --\nkind: "fct"', tmp_path / place)
    (tmp_path / ".gitignore").write_text("ignored/\n")
    roots = inside(tmp_path, "check", "--format", "json").json["roots"]
    assert roots == ["one/agent-qa-knowledge", "two/deep/agent-qa-knowledge"]
    assert inside(tmp_path, "check", "ignored", "--format", "json").json["roots"] == ["ignored/agent-qa-knowledge"]


@pytest.mark.parametrize(
    ("text", "level", "code"),
    [
        ('kind: "fct"', None, 1),
        ('kind: "fct"', "error", 1),
        ('kind: "fct"', "never", 0),
        ("", "error", 0),
        ("", "warning", 0),
        ("", "info", 0),
    ],
)
def test_the_exit_code_follows_fail_on(text: str, level: str | None, code: int, tmp_path: Path) -> None:
    sketch(f"-- record.md --\n{text}", tmp_path)
    assert inside(tmp_path, "check", *(["--fail-on", level] if level else [])).code == code


def test_a_warning_fails_only_where_asked(tmp_path: Path) -> None:
    sketch('-- evidence/outcomes.jsonl + --\n{"buildOrdinal":2,"origin":"user","type":"celebrated"}', tmp_path)
    levels = ("error", "warning", "info", "never")
    select = ("--select", "unknown-event-type")
    assert [inside(tmp_path, "check", *select, "--fail-on", level).code for level in levels] == [0, 1, 1, 0]


@pytest.mark.usefixtures("drawn")
def test_rules_are_selected_and_ignored_by_name_code_or_beginning(tmp_path: Path) -> None:
    def rules(*arguments: str) -> set[str]:
        return {item["rule"] for item in inside(tmp_path, "check", *arguments, "--format", "json").json["findings"]}

    every = rules()
    assert {"unknown-value", "stored-derived-field"} <= every
    assert rules("--select", "unknown-value") == {"unknown-value"}
    assert rules("--select", "mx105,MX106") == {"unknown-value", "stored-derived-field"}
    assert rules("--select", "MX105", "--select", "MX106") == {"unknown-value", "stored-derived-field"}
    assert rules("--ignore", "stored-derived-field") == every - {"stored-derived-field"}
    assert not {rule for rule in rules("--ignore", "MX1") if registry.BY_NAME[rule].code.startswith("MX1")}


def test_hints_are_counted_in_text_and_shown_when_asked(tmp_path: Path) -> None:
    sketch('-- record.md --\nkind: "fct"', tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.memidex.rules]\nunknown-value = "hint"\n')
    quiet = inside(tmp_path, "check", "--select", "unknown-value")
    assert (quiet.code, quiet.out) == (0, "")
    assert quiet.err.startswith("1 hint in 1 record (")
    assert "hint: " in inside(tmp_path, "check", "--hints").out
    document = inside(tmp_path, "check", "--format", "json", "--select", "unknown-value").json
    assert [item["severity"] for item in document["findings"]] == ["hint"]


@pytest.mark.parametrize("data", [b"\0\xff\xfe binary \x80", b"", b"\xef\xbb\xbf", b"{" * 5000, b"---\n" * 3000])
def test_no_bytes_of_any_file_stop_it(data: bytes, tmp_path: Path) -> None:
    drawn = sketch("-- record.md --", tmp_path)
    for path in drawn.root.rglob("*"):
        if path.is_file():
            path.write_bytes(data)
    done = inside(tmp_path, "check", "--format", "json")
    assert done.code == 1
    assert "rule-crashed" not in {item["rule"] for item in done.json["findings"]}


def test_a_file_where_a_folder_belongs_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "memory" / "shop").mkdir(parents=True)
    (tmp_path / "memory" / "shop" / "bundles").write_text("")
    assert inside(tmp_path, "check").code == 2
    assert inside(tmp_path, "check", "memory/shop/bundles").code == 2


def test_a_root_without_records_is_clean(tmp_path: Path) -> None:
    (tmp_path / "memory" / "shop" / "bundles").mkdir(parents=True)
    done = inside(tmp_path, "check")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("no findings in 0 records")


def test_nothing_is_written_by_a_check(drawn: Sketch, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    process(tmp_path, "check")
    assert {path: path.stat().st_mtime_ns for path in drawn.root.parent.rglob("*")} == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is unreadable for this user")
@pytest.mark.parametrize("name", ["bundles", ""])
def test_a_root_that_cannot_be_read_is_not_taken_for_a_clean_one(name: str, tmp_path: Path) -> None:
    sketch("-- record.md --", tmp_path)
    root = sketch("-- record.md --", tmp_path / "other").root
    (root / "memory" / "shop").rename(tmp_path / "agent-qa-knowledge" / "memory" / "closed")
    bundles = tmp_path / "agent-qa-knowledge" / "memory" / "closed" / name
    bundles.chmod(0)
    try:
        done = inside(tmp_path, "check")
    finally:
        bundles.chmod(0o755)
    assert done.code == 2
    assert "cannot be read" in done.err


EXAMPLES = [pytest.param(text, id=rule.name) for rule in registry.RULES for text in rule.examples("flagged")]


@pytest.mark.parametrize("text", EXAMPLES)
def test_checking_while_reading_finds_what_checking_a_whole_root_finds(text: str, tmp_path: Path) -> None:
    """Texts are checked before the root is complete: no rule about texts may ask for other records."""
    drawn = sketch(text, tmp_path)
    path = drawn.root.as_posix()
    root = opening.cold(path)
    whole: list[Finding] = [item for entry in root.entries.values() for item in engine.check_entry(entry, root)]
    whole += engine.check_root(root)
    found = checked(path, [path], ALL, Console(path, {}, io.StringIO(), io.StringIO(), lambda: 0.0))

    def key(item: Finding) -> tuple[object, ...]:
        return item.path, item.span, item.rule.code, item.severity, item.message

    assert sorted(map(key, whole)) == sorted(key(item.finding) for item in found.findings)


def test_a_copy_elsewhere_has_the_same_findings(drawn: Sketch, tmp_path: Path) -> None:
    shutil.copytree(drawn.root, tmp_path / "copy" / "agent-qa-knowledge")
    first = inside(drawn.root, "check", "--format", "json").json["findings"]
    second = inside(tmp_path / "copy" / "agent-qa-knowledge", "check", "--format", "json").json["findings"]
    assert first == second
