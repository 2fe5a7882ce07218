"""`[tool.memidex]`, which the editor and the command line read by one function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import inside

from memidex import config
from memidex.config import Config, Malformed
from memidex.rules import registry
from sketch import sketch

RULE = registry.BY_NAME["unknown-value"]


def read(folder: Path, text: str, **more: Any) -> Config:
    (folder / "pyproject.toml").write_text(text)
    return config.read(folder.as_posix(), **more)


def test_without_a_file_every_rule_is_as_it_says(tmp_path: Path) -> None:
    found = config.read(tmp_path.as_posix())
    assert all(found.selection.severity(rule) == rule.severity for rule in registry.RULES)
    assert (found.fail_on, found.exclude, found.path, found.warnings) == ("error", (), None, ())


def test_a_rule_has_its_severity_by_name_or_code(tmp_path: Path) -> None:
    found = read(tmp_path, '[tool.memidex.rules]\nunknown-value = "info"\nmx106 = "off"\n')
    assert found.selection.severity(RULE) == "info"
    assert found.selection.severity(registry.BY_NAME["stored-derived-field"]) is None
    assert found.path == (tmp_path / "pyproject.toml").as_posix()


def test_the_nearest_file_that_has_the_table_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    read(tmp_path, '[tool.memidex]\nfail-on = "warning"\n')
    assert config.read(inner.as_posix()).fail_on == "warning"
    read(inner, "[tool.memidex]\n")
    assert config.read(inner.as_posix()).fail_on == "error"


def test_the_editors_setting_is_merged_over_the_file(tmp_path: Path) -> None:
    read(tmp_path, '[tool.memidex.rules]\nunknown-value = "info"\nstored-derived-field = "hint"\n')
    selection = config.selection(tmp_path.as_posix(), {"MX105": "warning"})
    assert selection.severity(RULE) == "warning"
    assert selection.severity(registry.BY_NAME["stored-derived-field"]) == "hint"


def test_the_command_line_selects_instead_and_ignores_besides(tmp_path: Path) -> None:
    text = '[tool.memidex]\nselect = ["MX106"]\nignore = ["MX107"]\nrules = {unknown-value = "off"}\n'
    asked = read(tmp_path, text, select=["unknown-value"]).selection
    assert asked.severity(RULE) == "error"
    assert asked.severity(registry.BY_CODE["MX106"]) is None
    besides = read(tmp_path, text.replace('select = ["MX106"]', ""), ignore=["MX106"]).selection
    assert [besides.severity(registry.BY_CODE[code]) for code in ("MX105", "MX106", "MX107")] == [None, None, None]
    assert besides.severity(registry.BY_CODE["MX201"]) == "error"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            '[tool.memidex]\nrules = {unknown-valeu = "off"}',
            "tool.memidex.rules: no rule `unknown-valeu`; did you mean `unknown-value`?",
        ),
        ('[tool.memidex]\nselect = ["MX9999"]', "tool.memidex.select: no rule `MX9999`"),
        ('[tool.memidex]\nignore = ["stored-derived"]', "did you mean `stored-derived-field`?"),
        ('[tool.memidex]\nfail_on = "error"', "tool.memidex.fail_on: no such key; did you mean `fail-on`?"),
    ],
)
def test_unknown_words_are_warnings(text: str, warning: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, text).warnings
    assert found.startswith((tmp_path / "pyproject.toml").as_posix())
    assert warning in found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.memidex", "not TOML"),
        ("[tool]\nmemidex = 1", "tool.memidex: must be a table"),
        ('[tool.memidex]\nrules = "off"', "tool.memidex.rules: must be a table"),
        ('[tool.memidex.rules]\nunknown-value = "fatal"', "tool.memidex.rules.unknown-value: must be one of error"),
        ("[tool.memidex.rules]\nunknown-value = {a = 1}", "tool.memidex.rules.unknown-value: must be one of error"),
        ('[tool.memidex]\nselect = "MX1"', "tool.memidex.select: must be a list of strings"),
        ("[tool.memidex]\nignore = [1]", "tool.memidex.ignore: must be a list of strings"),
        ('[tool.memidex]\nfail-on = "hint"', "tool.memidex.fail-on: must be one of error, warning, info, never"),
        ("[tool.memidex]\nfail-on = []", "tool.memidex.fail-on: must be one of"),
        ("[tool.memidex]\nexclude = {}", "tool.memidex.exclude: must be a list of strings"),
    ],
)
def test_a_malformed_file_is_an_error_that_names_file_and_key(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(Malformed) as raised:
        read(tmp_path, text)
    assert says in str(raised.value)
    assert "pyproject.toml" in str(raised.value)
    sketch("-- record.md --", tmp_path)
    done = inside(tmp_path, "check")
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(Malformed, match="not TOML"):
        config.read(tmp_path.as_posix())


@pytest.mark.parametrize("setting", [{"unknown-value": "fatal"}, {"unknown-value": None}, ["off"], "off"])
def test_a_malformed_setting_of_the_editor_names_the_setting(setting: Any, tmp_path: Path) -> None:
    with pytest.raises(Malformed, match=r"memidex\.rules"):
        config.read(tmp_path.as_posix(), setting)


def test_excluded_roots_are_not_searched_but_can_be_named(tmp_path: Path) -> None:
    for place in ("kept", "old/kept", "vendor/deep/one"):
        sketch('-- record.md --\nkind: "fct"', tmp_path / place)
    (tmp_path / "pyproject.toml").write_text('[tool.memidex]\nexclude = ["vendor/", "/old"]\n')
    assert inside(tmp_path, "check", "--format", "json").json["roots"] == ["kept/agent-qa-knowledge"]
    named = inside(tmp_path, "check", "vendor/deep/one/agent-qa-knowledge", "--format", "json").json["roots"]
    assert named == ["vendor/deep/one/agent-qa-knowledge"]


def test_the_check_follows_the_file_and_warns_once(tmp_path: Path) -> None:
    sketch('-- record.md --\nkind: "fct"', tmp_path / "one")
    sketch('-- record.md --\nkind: "fct"', tmp_path / "two")
    (tmp_path / "pyproject.toml").write_text('[tool.memidex]\nrules = {MX105 = "warning", MX1 = "off"}\n')
    done = inside(tmp_path, "check", "--select", "unknown-value")
    assert done.code == 0
    assert "warning: " in done.out
    assert done.err.count("no rule `MX1`") == 1
    (tmp_path / "pyproject.toml").write_text('[tool.memidex]\nfail-on = "warning"\nrules = {MX105 = "warning"}\n')
    assert inside(tmp_path, "check", "--select", "unknown-value").code == 1
    assert inside(tmp_path, "check", "--select", "unknown-value", "--fail-on", "error").code == 0
