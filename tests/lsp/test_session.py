"""Texts, disk, configuration and workspace folders, as an editor meets them: through the real server's process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import NEOVIM, NOTHING, PULLS, VSCODE, VSCODE_PULLS, Editor, applied, merged, uri
from roots import FINDING, WRONG, break_record, healthy, many, mend_record, remove, seal, with_wrong, wrong

from sketch import sketch

LOG = "evidence/outcomes.jsonl"


# Pushed and pulled


def test_findings_are_pushed_with_the_version_of_the_text_that_they_are_about(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record = made.path("record.md")
    text = record.read_text()
    with Editor(tmp_path) as editor:
        editor.open(record)
        editor.until(lambda: uri(record) in editor.pushed)
        assert (editor.pushed[uri(record)]["version"], editor.problems(record)) == (1, [])
        editor.change(record, with_wrong(text), 2)
        editor.until(lambda: FINDING in editor.rules(record))
        assert editor.pushed[uri(record)]["version"] == 2
        editor.change(record, with_wrong(text) + "More.\n", 7)
        editor.until(lambda: editor.pushed[uri(record)]["version"] == 7)
        assert FINDING in editor.rules(record)
        versions = [item["version"] for item in editor.history if item["uri"] == uri(record)]
        assert versions == sorted(versions)


def test_findings_of_files_that_are_not_open_are_pushed(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path) as editor:
        editor.shows(record, FINDING)
        found = editor.pushed[uri(record)]
        assert "version" not in found
        assert found["diagnostics"][0]["source"] == "memidex"
        assert found["diagnostics"][0]["code"] == "MX106"


def test_a_document_is_pulled_and_is_unchanged_until_it_changes(tmp_path: Path) -> None:
    made = wrong(tmp_path)
    record = made.path("record.md")
    text = record.read_text()
    with Editor(tmp_path, capabilities=PULLS) as editor:
        editor.open(record)
        first = editor.pull(record)
        assert first["kind"] == "full"
        assert [item["data"]["rule"] for item in first["items"]] == [FINDING]
        assert editor.pull(record, first["resultId"]) == {"kind": "unchanged", "resultId": first["resultId"]}
        editor.change(record, text.replace(WRONG + "\n", ""))
        second = editor.pull(record, first["resultId"])
        assert second["kind"] == "full"
        assert FINDING not in [item["data"]["rule"] for item in second["items"]]
        assert not editor.pushed, "who pulls is not pushed to"


def test_the_workspace_is_pulled_and_is_unchanged_until_it_changes(tmp_path: Path) -> None:
    made = many(tmp_path, 10, every_wrong=3)
    bundle = made.path("record.md", "r3").parent
    with Editor(tmp_path, capabilities=PULLS) as editor:
        first = editor.pull_all()
        assert {name for name, item in first.items() if item["items"]} == {
            uri(made.path("record.md", nick)) for nick in ("r0", "r3", "r6")
        }
        known = {name: item["resultId"] for name, item in first.items()}
        assert {item["kind"] for item in editor.pull_all(known).values()} == {"unchanged"}
        mend_record(bundle)
        editor.changed(bundle / "record.md", bundle / "manifest.json")
        editor.until(lambda: any(asked["method"] == "workspace/diagnostic/refresh" for asked in editor.asked))
        third = editor.pull_all(known)
        assert {name: item.get("items") for name, item in third.items() if item["kind"] == "full"} == {
            uri(bundle / "record.md"): []
        }


def test_the_workspace_streams_its_report_to_a_client_that_gives_a_token(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path, capabilities=PULLS) as editor:
        whole = editor.request("workspace/diagnostic", {"previousResultIds": [], "partialResultToken": "t"})
        part = editor.notification("$/progress")
        assert whole == {"items": []}
        assert part["token"] == "t"
        assert [item["uri"] for item in part["value"]["items"]] == [uri(record)]


def test_a_client_that_pulls_but_cannot_be_told_to_ask_again_is_pushed_to(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path, capabilities={"textDocument": {"diagnostic": {}}}) as editor:
        assert "diagnosticProvider" not in editor.result["capabilities"]
        editor.shows(record, FINDING)


def test_a_finding_of_two_files_has_related_information(tmp_path: Path) -> None:
    made = sketch(
        '-- relations.json --\n{"relations":[{"type":"supersedes","target":"@b"}]}\n-- b/record.md --\n', tmp_path
    )
    relations = made.path("relations.json")
    with Editor(tmp_path) as editor:
        editor.until(lambda: "one-sided-relation" in editor.rules(relations))
        found = editor.pushed[uri(relations)]["diagnostics"]
        related = next(item for item in found if item["data"]["rule"] == "one-sided-relation")["relatedInformation"]
        assert all(Path(made.root).as_uri() in item["location"]["uri"] for item in related)


def test_superseded_records_are_shown_as_unnecessary(tmp_path: Path) -> None:
    event = '{"buildOrdinal":2,"origin":"user","type":"superseded","by":"@b","id":"s","at":"2026-01-02T00:00:00Z"}'
    made = sketch(
        f'-- relations.json --\n{{"relations":[{{"type":"superseded-by","target":"@b"}}]}}\n-- {LOG} + --\n{event}\n'
        '-- b/record.md --\n-- b/relations.json --\n{"relations":[{"type":"supersedes","target":"@a"}]}\n',
        tmp_path,
    )
    record = made.path("record.md")
    with Editor(tmp_path) as editor:
        editor.open(record)
        editor.until(lambda: "superseded" in editor.rules(record))
        found = editor.pushed[uri(record)]["diagnostics"]
        assert [item["tags"] for item in found if item["data"]["rule"] == "superseded"] == [[1]]


# Fixes


def test_a_client_that_knows_commands_alone_gets_no_fix(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path, capabilities={"textDocument": {"codeAction": {}}}) as editor:
        editor.open(record)
        editor.until(lambda: FINDING in editor.rules(record))
        assert all(isinstance(action["command"], str) for action in editor.actions(record)), "decisions alone"


def test_a_client_that_says_nothing_of_actions_gets_them_whole(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path) as editor:
        editor.open(record)
        editor.until(lambda: FINDING in editor.rules(record))
        assert all("edit" in action or "command" in action for action in editor.actions(record))
        assert any("edit" in action for action in editor.actions(record))
        assert editor.actions(record)


def test_a_fix_is_resolved_and_applied_and_its_finding_goes(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    text = record.read_text()
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        editor.open(record)
        editor.until(lambda: FINDING in editor.rules(record))
        action = next(item for item in editor.actions(record) if item["title"] == "Remove status")
        assert (action["kind"], action["isPreferred"]) == ("quickfix", True)
        assert [item["code"] for item in action["diagnostics"]] == ["MX106"]
        assert "edit" not in action
        edit = editor.request("codeAction/resolve", action)["edit"]["documentChanges"]
        assert edit[0]["textDocument"] == {"uri": uri(record), "version": 1}
        editor.change(record, applied(text, edit[0]["edits"]))
        editor.until(lambda: FINDING not in editor.rules(record))


def test_a_fix_that_is_resolved_after_the_text_changed_is_refused(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    text = record.read_text()
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        editor.open(record)
        editor.until(lambda: FINDING in editor.rules(record))
        action = next(item for item in editor.actions(record) if item["title"] == "Remove status")
        editor.change(record, "\n" + text)
        assert editor.call("codeAction/resolve", action)["error"]["code"] == -32801


def test_fix_all_makes_every_safe_fix_in_one_edit(tmp_path: Path) -> None:
    made = sketch(f"-- record.md --\n{WRONG}\ntrust: 0.5\nconfirmed: 3\n", tmp_path)
    record = made.path("record.md")
    text = record.read_text()
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        editor.open(record)
        editor.until(lambda: editor.rules(record).count(FINDING) == 3)
        assert all("fixAll" not in item["kind"] for item in editor.actions(record)), "not in every menu"
        for only in (["source.fixAll"], ["source.fixAll.memidex"], ["source"]):
            found = [item for item in editor.actions(record, only) if item["kind"] != "source.memidex"]
            assert [item["kind"] for item in found] == ["source.fixAll.memidex"]
        assert editor.actions(record, ["refactor"]) == []
        edits = found[0]["edit"]["documentChanges"][0]["edits"]
        editor.change(record, applied(text, edits))
        editor.until(lambda: FINDING not in editor.rules(record))


# Configuration


def test_the_settings_of_the_editor_change_what_is_told_without_a_restart(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path, capabilities=VSCODE, settings={"rules": {FINDING: "info"}}) as editor:
        editor.shows(record, FINDING)
        assert editor.pushed[uri(record)]["diagnostics"][0]["severity"] == 3
        editor.settings = {"rules": {FINDING: "off"}}
        editor.notify("workspace/didChangeConfiguration", {"settings": None})
        editor.shows(record)
        editor.settings = {}
        editor.notify("workspace/didChangeConfiguration", {"settings": None})
        editor.until(lambda: editor.rules(record) == [FINDING])
        assert editor.pushed[uri(record)]["diagnostics"][0]["severity"] == 1


def test_settings_are_taken_from_a_client_that_sends_them(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path, initializationOptions={"rules": {FINDING: "warning"}}) as editor:
        editor.shows(record, FINDING)
        assert editor.pushed[uri(record)]["diagnostics"][0]["severity"] == 2
        editor.notify("workspace/didChangeConfiguration", {"settings": {"memidex": {"rules": {FINDING: "off"}}}})
        editor.shows(record)


def test_settings_are_taken_by_their_full_names_too(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(tmp_path, initializationOptions={"memidex.rules": {FINDING: "warning"}}) as editor:
        editor.shows(record, FINDING)
        assert editor.pushed[uri(record)]["diagnostics"][0]["severity"] == 2


@pytest.mark.parametrize("capabilities", [VSCODE, NOTHING], ids=["watched", "unwatched"])
def test_the_project_file_changes_what_is_told_without_a_restart(tmp_path: Path, capabilities: dict) -> None:
    record = wrong(tmp_path).path("record.md")
    project = tmp_path / "pyproject.toml"
    project.write_text(f'[tool.memidex.rules]\n{FINDING} = "off"\n')
    with Editor(tmp_path, capabilities=capabilities) as editor:
        assert editor.settled() == {}
        project.write_text(f'[tool.memidex.rules]\n{FINDING} = "hint"\n{FINDING} = 3')
        if capabilities:
            editor.changed(project)
        editor.shows(record, FINDING)
        assert "not TOML" in editor.notification("window/showMessage")["message"]
        project.write_text("")
        if capabilities:
            editor.changed(project)
        editor.shows(record, FINDING)


@pytest.mark.parametrize("answer", [[], None, 7, [[]], [{"rules": []}], [{"rules": {FINDING: 5}}], "x", [None]])
def test_a_configuration_of_another_shape_does_no_harm(tmp_path: Path, answer: object) -> None:
    record = wrong(tmp_path).path("record.md")
    answers = {"workspace/configuration": lambda _: answer}
    with Editor(tmp_path, capabilities=VSCODE, answers=answers) as editor:
        editor.shows(record, FINDING)


def test_a_client_that_never_answers_is_not_waited_for(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    never = {name: lambda _: NotImplemented for name in ("workspace/configuration", "client/registerCapability")}
    with Editor(tmp_path, capabilities=VSCODE, answers=never) as editor:
        editor.shows(record, FINDING, limit=8)
        mend_record(record.parent)
        editor.shows(record, limit=8)  # it does not watch, as far as we know


# Roots and folders


def test_every_root_of_every_folder_is_found(tmp_path: Path) -> None:
    records = [wrong(tmp_path / name).path("record.md") for name in ("one/deep/er", "one/other", "two")]
    healthy(tmp_path / "one" / "node_modules" / "x")
    with Editor(tmp_path / "one", tmp_path / "two") as editor:
        for record in records:
            editor.shows(record, FINDING)


def test_folders_come_and_go(tmp_path: Path) -> None:
    one, two = (wrong(tmp_path / name).path("record.md") for name in ("one", "two"))
    with Editor(tmp_path / "one") as editor:
        editor.shows(one, FINDING)
        folders = [{"uri": uri(tmp_path / name), "name": name} for name in ("one", "two")]
        editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders[1:], "removed": []}})
        editor.shows(two, FINDING)
        editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": folders[:1]}})
        editor.shows(one)
        editor.shows(two, FINDING)
        assert list(editor.settled()) == [uri(two)]


def test_a_root_of_two_folders_is_told_once_and_stays_until_both_are_gone(tmp_path: Path) -> None:
    made = wrong(tmp_path)
    record = made.path("record.md")
    with Editor(tmp_path, made.root) as editor:
        editor.shows(record, FINDING)
        removed = [{"uri": uri(tmp_path), "name": "x"}]
        editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": removed}})
        assert list(editor.settled()) == [uri(record)]
        removed = [{"uri": uri(made.root), "name": "x"}]
        editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": removed}})
        editor.shows(record)
        assert len([item for item in editor.history if item["uri"] == uri(record)]) == 2


def test_a_folder_inside_a_bundle_finds_its_root(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with Editor(record.parent) as editor:
        editor.shows(record, FINDING)


def test_a_folder_through_a_symbolic_link_is_one_root_under_both_names(tmp_path: Path) -> None:
    made = wrong(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    record = made.path("record.md")
    linked = tmp_path / "link" / record.relative_to(tmp_path / "real")
    with Editor(tmp_path / "link") as editor:
        editor.shows(linked, FINDING)
        editor.open(record, record.read_text().replace(WRONG + "\n", ""))
        editor.until(lambda: uri(record) in editor.pushed)
        editor.until(lambda: FINDING not in editor.rules(record))
        assert len(editor.pull_all()) <= 1


@pytest.mark.parametrize("capabilities", [VSCODE, NOTHING], ids=["watched", "unwatched"])
def test_a_root_that_appears_later_is_found(tmp_path: Path, capabilities: dict) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with Editor(folder, capabilities=capabilities) as editor:
        assert editor.settled() == {}
        record = wrong(tmp_path / "elsewhere").path("record.md")
        target = folder / "agent-qa-knowledge"
        shutil.move(tmp_path / "elsewhere" / "agent-qa-knowledge", target)
        record = target / record.relative_to(tmp_path / "elsewhere" / "agent-qa-knowledge")
        if capabilities:
            editor.changed(target / "memory", target / "memory" / "shop" / "bundles", record, kind=1)
        editor.shows(record, FINDING)


def test_a_file_of_a_root_outside_the_workspace_finds_its_root(tmp_path: Path) -> None:
    record = wrong(tmp_path / "elsewhere").path("record.md")
    (tmp_path / "work").mkdir()
    with Editor(tmp_path / "work") as editor:
        editor.open(record)
        editor.shows(record, FINDING)
        assert "stored-derived-field" in str(editor.actions(record)) or editor.hover(record, 2, 6)


def test_files_of_no_root_and_virtual_documents_get_nothing(tmp_path: Path) -> None:
    made = wrong(tmp_path)
    other = tmp_path / "notes.md"
    other.write_text("---\nstatus: 1\n---\nSee nothing.\n")
    with Editor(tmp_path) as editor:
        editor.open(other)
        for scheme in ("git:/x/memory/shop/bundles/a/record.md?x", "untitled:record.md", "vscode-notebook-cell:/x#y"):
            item = {"uri": scheme, "languageId": "markdown", "version": 1, "text": "---\nstatus: 1\n---\n"}
            editor.notify("textDocument/didOpen", {"textDocument": item})
            assert editor.request("textDocument/diagnostic", {"textDocument": {"uri": scheme}})["items"] == []
            params = {"textDocument": {"uri": scheme}, "position": {"line": 1, "character": 2}}
            assert editor.request("textDocument/hover", params) is None
        editor.shows(made.path("record.md"), FINDING)
        assert list(editor.pushed) == [uri(made.path("record.md"))]


def test_an_address_in_any_text_of_the_workspace_has_a_hover_and_a_definition(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record = made.path("record.md")
    other = tmp_path / "notes.md"
    other.write_text(f"\U0001f600 see {made.ids['a']}.\n")
    with Editor(tmp_path) as editor:
        editor.settled()
        editor.open(other)
        assert "0.75" in str(editor.hover(other, 0, 12))
        found = editor.at("textDocument/definition", other, 0, 12)
        assert [item["uri"] for item in found] == [uri(record)]
        assert editor.request("textDocument/documentLink", {"textDocument": {"uri": uri(other)}})[0]["range"][
            "start"
        ] == {"line": 0, "character": 7}
        assert not editor.pushed.get(uri(other), {"diagnostics": []})["diagnostics"]


@pytest.mark.parametrize("capabilities", [NOTHING, VSCODE_PULLS], ids=["nothing", "vscode"])
def test_what_is_asked_before_the_roots_are_open_is_answered_from_them(tmp_path: Path, capabilities: dict) -> None:
    made = healthy(tmp_path)
    other = tmp_path / "notes.md"
    other.write_text(f"see {made.ids['a']}.\n")
    with Editor(tmp_path, capabilities=capabilities) as editor:
        editor.open(other)
        first = editor.begin(
            "textDocument/hover",
            {"textDocument": {"uri": uri(other)}, "position": {"line": 0, "character": 6}},
        )
        second = editor.begin("workspace/symbol", {"query": "button"})
        assert "0.75" in str(editor.response(first)["result"])
        assert len(editor.response(second)["result"]) == 1


def test_a_request_that_waits_for_the_roots_is_answered_when_the_session_ends(tmp_path: Path) -> None:
    healthy(tmp_path)
    silent = {"workspace/configuration": lambda _params: NotImplemented}
    with Editor(tmp_path, capabilities=VSCODE_PULLS, answers=silent) as editor:
        number = editor.begin("workspace/symbol", {"query": "button"})
        editor.request("shutdown")
        assert editor.response(number)["error"]["code"] == -32800


# The disk


WATCH = pytest.mark.parametrize("capabilities", [VSCODE, NEOVIM], ids=["watched", "unwatched"])


def tell(editor: Editor, *paths: Path, kind: int = 2) -> None:
    """The watcher of a client that has one."""
    if editor.capabilities is VSCODE:
        editor.changed(*paths, kind=kind)


@WATCH
def test_a_file_that_changes_outside_is_noticed(tmp_path: Path, capabilities: dict) -> None:
    made = many(tmp_path, 30)
    bundle = made.path("record.md", "r7").parent
    with Editor(tmp_path, capabilities=capabilities) as editor:
        assert editor.settled() == {}
        break_record(bundle)
        tell(editor, bundle / "record.md", bundle / "manifest.json")
        editor.shows(bundle / "record.md", FINDING)
        mend_record(bundle)
        tell(editor, bundle / "record.md", bundle / "manifest.json")
        editor.shows(bundle / "record.md")


@WATCH
def test_a_file_beside_an_open_one_that_changes_outside_is_noticed(tmp_path: Path, capabilities: dict) -> None:
    made = many(tmp_path, 5)
    record, log = made.path("record.md", "r1"), made.path("evidence/outcomes.jsonl", "r1")
    with Editor(tmp_path, capabilities=capabilities) as editor:
        editor.open(record)  # while the root is still being opened for the first time
        assert editor.settled() == {}
        with log.open("a") as file:
            file.write("what is this?\n")
        tell(editor, log)
        editor.shows(log, "unreadable-event")


@WATCH
def test_a_write_of_the_same_size_and_time_is_noticed(tmp_path: Path, capabilities: dict) -> None:
    made = many(tmp_path, 5)
    record = made.path("record.md", "r1")
    with Editor(tmp_path, capabilities=capabilities) as editor:
        assert editor.settled() == {}
        before = record.stat()
        record.write_text(record.read_text().replace("Seen", "seen"))
        os.utime(record, ns=(before.st_atime_ns, before.st_mtime_ns))
        tell(editor, record)
        editor.shows(record, "edited-since-sealed")


@WATCH
def test_a_bundle_that_goes_leaves_nothing_behind_and_one_that_comes_is_checked(
    tmp_path: Path, capabilities: dict
) -> None:
    made = many(tmp_path, 10, every_wrong=3)
    one = made.path("record.md", "r0").parent
    away = tmp_path / "away"
    with Editor(tmp_path, capabilities=capabilities) as editor:
        editor.shows(one / "record.md", FINDING)
        shutil.move(one, away)
        tell(editor, one, kind=3)
        editor.shows(one / "record.md")
        assert uri(one / "record.md") not in editor.settled()
        shutil.move(away, one)
        tell(editor, one / "record.md", one / "manifest.json", kind=1)
        editor.shows(one / "record.md", FINDING)


@WATCH
def test_a_renamed_bundle_is_followed(tmp_path: Path, capabilities: dict) -> None:
    made = many(tmp_path, 4)
    one = made.path("record.md", "r0").parent
    two = one.with_name(one.name.replace("r0", "rx"))
    with Editor(tmp_path, capabilities=capabilities) as editor:
        assert editor.settled() == {}
        one.rename(two)
        tell(editor, one, kind=3)
        tell(editor, two / "record.md", kind=1)
        editor.shows(two / "record.md", "id-not-folder")
        assert not [name for name in editor.settled() if one.name in name]


@WATCH
def test_a_root_that_goes_takes_its_findings_with_it(tmp_path: Path, capabilities: dict) -> None:
    made = wrong(tmp_path / "work")
    record = made.path("record.md")
    with Editor(tmp_path / "work", capabilities=capabilities) as editor:
        editor.shows(record, FINDING)
        made.root.rename(tmp_path / "gone")
        editor.shows(record)  # VS Code tells of the folder above alone, which no pattern of ours matches
        assert editor.settled() == {}


def test_a_branch_switch_is_one_update(tmp_path: Path) -> None:
    made = many(tmp_path, 400)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "checkout", "-qb", "two")
    bundles = [made.path("record.md", f"r{number}").parent for number in range(399)]
    for bundle in bundles:
        break_record(bundle)
    git(tmp_path, "commit", "-qam", "two")
    git(tmp_path, "checkout", "-q", "main")
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        assert editor.settled() == {}
        for branch, wanted in (("two", 399), ("main", 0)):
            git(tmp_path, "checkout", "-q", branch)
            paths = [bundle / name for bundle in bundles for name in ("record.md", "manifest.json")]
            for start in range(0, len(paths), 100):
                editor.changed(*paths[start : start + 100])
            editor.until(lambda wanted=wanted: count(editor) == wanted)
            time.sleep(0.3)
            assert count(editor) == wanted
        told = [item["uri"] for item in editor.history]
        assert len(told) == 2 * 399, "each file once a switch"


def test_a_branch_switch_is_noticed_where_nobody_watches(tmp_path: Path) -> None:
    made = many(tmp_path, 100)
    bundles = [made.path("record.md", f"r{number}").parent for number in range(99)]
    with Editor(tmp_path, capabilities=NEOVIM) as editor:
        assert editor.settled() == {}
        for bundle in bundles:
            break_record(bundle)
        editor.until(lambda: count(editor) == 99, 10)


def count(editor: Editor) -> int:
    return sum(1 for item in list(editor.pushed.values()) if item["diagnostics"])


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


# Buffers over the disk


def test_an_unsaved_text_wins_over_the_disk_and_closing_it_brings_the_disk_back(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record = made.path("record.md")
    text = record.read_text()
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        editor.open(record, with_wrong(text))
        editor.until(lambda: FINDING in editor.rules(record))
        # An agent writes the file meanwhile, and says so.
        record.write_text(text.replace("Seen in", "Found in"))
        seal(record.parent)
        editor.changed(record, record.parent / "manifest.json")
        time.sleep(0.5)
        assert FINDING in editor.rules(record)
        assert record.read_text() == text.replace("Seen in", "Found in")
        editor.close(record)
        editor.shows(record)


def test_a_text_that_is_open_when_its_bundle_goes_and_comes_back_still_counts(tmp_path: Path) -> None:
    made = many(tmp_path, 3)
    record = made.path("record.md", "r0")
    away = tmp_path / "away"
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        editor.open(record, with_wrong(record.read_text()))
        editor.until(lambda: FINDING in editor.rules(record))
        shutil.move(record.parent, away)
        editor.changed(record.parent, kind=3)
        editor.until(lambda: FINDING not in editor.rules(record))
        shutil.move(away, record.parent)
        editor.changed(record, kind=1)
        editor.until(lambda: FINDING in editor.rules(record))


def test_a_log_that_is_edited_moves_its_record_everywhere(tmp_path: Path) -> None:
    made = sketch("-- record.md --\n", tmp_path)
    record, log = made.path("record.md"), made.path(LOG)
    other = tmp_path / "notes.md"
    other.write_text(f"See {made.ids['a']}.\n")
    with Editor(tmp_path, capabilities=VSCODE) as editor:
        editor.settled()
        editor.open(other)
        assert "active" in str(editor.hover(other, 0, 8))
        event = {"buildOrdinal": 2, "origin": "user", "type": "deprecated", "reason": "rejected", "id": "x"}
        editor.open(log, language="jsonl")
        editor.change(log, log.read_text() + json.dumps(event) + "\n")
        assert "deprecated" in str(editor.hover(other, 0, 8))
        editor.open(record)
        editor.until(lambda: "deprecated" in editor.rules(record))
        editor.close(log)
        editor.until(lambda: "deprecated" not in editor.rules(record))
        assert "active" in str(editor.hover(other, 0, 8))


@WATCH
def test_a_run_in_the_ledger_makes_records_fade_and_wake(tmp_path: Path, capabilities: dict) -> None:
    made = many(tmp_path, 3)
    record, ledger = made.path("record.md", "r0"), made.path("runs.jsonl")
    text = ledger.read_text()
    with Editor(tmp_path, capabilities=capabilities) as editor:
        editor.settled()
        editor.open(record)
        assert "unconfirmed since" not in str(editor.hover(record, 2, 6))
        ledger.write_text(text + "".join(f'{{"ordinal":{n},"run":"run-{n}"}}\n' for n in range(4, 12)))
        tell(editor, ledger)
        editor.until(lambda: "unconfirmed since" in str(editor.hover(record, 2, 6)))
        editor.until(lambda: "fading" in editor.rules(record))
        ledger.write_text(text)
        tell(editor, ledger)
        editor.until(lambda: "fading" not in editor.rules(record))
        assert "unconfirmed since" not in str(editor.hover(record, 2, 6))


def test_an_unsaved_ledger_counts(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record, ledger = made.path("record.md"), made.path("runs.jsonl")
    with Editor(tmp_path) as editor:
        editor.settled()
        editor.open(ledger)
        editor.change(ledger, "".join(f'{{"ordinal":{n},"run":"run-{n}"}}\n' for n in range(1, 12)))
        assert "unconfirmed since" in str(editor.hover(record, 2, 6))
        editor.change(ledger, "{\n", 3)
        editor.until(lambda: bool(editor.rules(ledger)))
        editor.close(ledger)
        editor.shows(ledger)
        assert "unconfirmed since" not in str(editor.hover(record, 2, 6))


def test_a_byte_order_mark_and_wrong_bytes_that_an_editor_does_not_show_are_no_edit(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record = made.path("record.md")
    record.write_bytes(b"\xef\xbb\xbf" + record.read_bytes())
    seal(record.parent)
    with Editor(tmp_path) as editor:
        before = editor.settled()
        editor.open(record, record.read_text("utf-8-sig"))
        assert editor.settled() == before
        assert "edited-since-sealed" not in str(before)


def test_an_artifact_that_someone_looks_at_is_no_file_of_the_bundle(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    artifact = made.path("record.md").parent / "artifacts" / "page.md"
    artifact.parent.mkdir()
    artifact.write_text("# Page\n")
    with Editor(tmp_path) as editor:
        assert editor.settled() == {}
        editor.open(artifact)
        assert editor.settled() == {}


# Starting again


def test_a_second_start_is_warm_and_finds_the_same(tmp_path: Path) -> None:
    made = many(tmp_path, 60, every_wrong=7)
    with Editor(tmp_path) as editor:
        first = editor.settled()
        cache = made.root / ".memidex" / "index"
        editor.until(cache.exists)
        assert (made.root / ".memidex" / ".gitignore").read_text() == "*\n"
    with Editor(tmp_path) as editor:
        assert editor.settled() == first
        assert "(warm)" in "".join(editor.log)
    break_record(made.path("record.md", "r5").parent)
    remove(made.path("record.md", "r7").parent)
    with Editor(tmp_path) as editor:
        now = editor.settled()
        assert set(now) - set(first) == {uri(made.path("record.md", "r5"))}
        assert set(first) - set(now) == {uri(made.path("record.md", "r7"))}
    good = cache.read_bytes()
    for damage in (
        good[: len(good) // 2],
        b"",
        b"\x00" * 100,
        good[:-1] + b"\xff",
        good.replace(b"shop", b"shap"),
        b"{}",
    ):
        cache.write_bytes(damage)
        with Editor(tmp_path) as editor:
            assert editor.settled() == now


def test_an_unsaved_text_is_not_kept_in_the_cache(tmp_path: Path) -> None:
    made = many(tmp_path, 3)
    record = made.path("record.md", "r0")
    with Editor(tmp_path) as editor:
        editor.open(record, with_wrong(record.read_text()))
        assert editor.settled()
        editor.until((made.root / ".memidex" / "index").exists)
    with Editor(tmp_path) as editor:
        assert editor.settled() == {}


def test_a_root_that_cannot_be_written_works(tmp_path: Path) -> None:
    made = wrong(tmp_path)
    record = made.path("record.md")
    made.root.chmod(0o555)
    try:
        with Editor(tmp_path) as editor:
            editor.shows(record, FINDING)
            assert editor.hover(record, 2, 6)
    finally:
        made.root.chmod(0o755)


def test_what_is_printed_does_not_reach_the_client_and_the_exit_code_is_right(tmp_path: Path) -> None:
    healthy(tmp_path)
    with Editor(tmp_path) as editor:
        editor.settled()
        assert editor.request("shutdown") is None
        editor.notify("exit")
        assert editor.exit_code() == 0
    with Editor(tmp_path) as editor:
        editor.notify("exit")
        assert editor.exit_code() == 1
    with Editor(tmp_path) as editor:
        assert editor.process.stdin
        editor.process.stdin.close()
        assert editor.exit_code() == 1


def test_progress_is_told_while_a_large_root_is_read(tmp_path: Path) -> None:
    many(tmp_path, 600)
    with Editor(tmp_path, capabilities=merged(NOTHING, {"window": {"workDoneProgress": True}})) as editor:
        editor.settled()
        kinds: list[str] = []
        while "end" not in kinds:
            kinds.append(editor.notification("$/progress")["value"]["kind"])
        assert kinds[0] == "begin"


def test_pulled_clients_have_the_hints_of_vs_code(tmp_path: Path) -> None:
    made = many(tmp_path, 3, every_wrong=2)
    with Editor(tmp_path, capabilities=VSCODE_PULLS) as editor:
        assert len(editor.settled()) == 1
        assert editor.request("workspace/symbol", {"query": "r1"})
        assert made
