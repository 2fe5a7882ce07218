"""A person decides in the editor: the answer, the files, and what the editor is told afterwards."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import NEOVIM, VSCODE, Editor, merged, uri

from memidex.history.change import tail
from sketch import Sketch, sketch

LOG = "evidence/outcomes.jsonl"
KNOWS = merged(VSCODE, {"experimental": {"memidex": True}})
SHOWS = merged(KNOWS, {"window": {"showDocument": {"support": True}}})
NEVER = {"confirmRetire": "never"}
CANDIDATE = """-- record.md --
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"id":"a-1","origin":"agent","type":"confirmed"}
"""
PROPOSAL = (
    CANDIDATE
    + """-- b/record.md --
-- b/relations.json --
{"relations":[{"type":"proposed-supersession-of","target":"@a"}]}
-- b/evidence/outcomes.jsonl --
{"buildOrdinal":2,"id":"b-1","origin":"agent","type":"confirmed"}
"""
)


def run(editor: Editor, operation: str, **wanted: Any) -> Any:
    return editor.request("workspace/executeCommand", {"command": f"memidex.{operation}", "arguments": [wanted]})


def log(made: Sketch, nick: str = "a") -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.path(LOG, nick).read_text().splitlines()]


def started(folder: Path, text: str = CANDIDATE, capabilities: Any = KNOWS, **more: Any) -> tuple[Editor, Sketch]:
    made = sketch(text, folder)
    editor = Editor(folder, capabilities=capabilities, **more)
    editor.settled()
    return editor, made


def test_accept(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        before = log(made)
        seen = tail(made.path(LOG).read_bytes())
        card = run(editor, "accept", uri=uri(record), seen=seen)
        assert card["status"] == "active"
        new = log(made)[len(before) :]
        assert [(event["type"], event["origin"]) for event in new] == [("confirmed", "user"), ("promoted", "user")]
        assert editor.request("memidex/card", {"uri": uri(record)})["status"] == "active"
        assert "active" in (editor.hover(record, 2, 8) or "")
        assert run(editor, "accept", uri=uri(record), seen=seen)["refused"] == "stale"


def test_what_is_shown_follows(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        editor.at("textDocument/hover", record, 2, 8)
        assert "awaiting-review" in editor.rules(record)
        run(editor, "accept", id=made.ids["a"])
        told = editor.notification("memidex/changed")["records"]
        assert told is None or made.ids["a"] in told  # None: with the root, which was opened just before
        editor.until(lambda: "awaiting-review" not in editor.rules(record))


def test_a_log_with_unsaved_edits_is_left_alone(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        path = made.path(LOG)
        data = path.read_bytes()
        editor.open(path, data.decode() + "\n")
        answer = run(editor, "accept", id=made.ids["a"])
        assert answer["refused"] == "unsaved-edits"
        assert LOG in answer["message"]
        assert answer["card"]["status"] == "candidate"
        assert path.read_bytes() == data
        editor.close(path)
        assert run(editor, "accept", id=made.ids["a"])["status"] == "active"


def test_what_another_record_says_unsaved_does_not_count(tmp_path: Path) -> None:
    editor, made = started(tmp_path, PROPOSAL, settings=NEVER)
    with editor:
        relations = made.path("relations.json", "b")
        editor.open(relations, '{"relations":[]}')
        assert run(editor, "accept", id=made.ids["a"])["status"] == "active"
        assert run(editor, "accept", id=made.ids["b"])["refused"] == "unsaved-edits"
        editor.close(relations)
        assert run(editor, "accept", id=made.ids["b"])["status"] == "active"
        assert editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "superseded"


def test_an_open_log_that_the_client_reads_late_is_no_unsaved_edit(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        path = made.path(LOG)
        editor.open(path)
        assert run(editor, "accept", id=made.ids["a"])["status"] == "active"
        assert run(editor, "contradict", id=made.ids["a"])["status"] == "active"
        assert len(log(made)) == 4
        editor.changed(path)
        assert editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "active"
        editor.change(path, path.read_text())
        assert run(editor, "retract", id=made.ids["a"])["status"] == "active"
        editor.change(path, path.read_text() + '{"buildOrdinal":3}\n', 3)
        assert run(editor, "contradict", id=made.ids["a"])["refused"] == "unsaved-edits"


def test_undo(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        name = made.ids["a"]
        assert run(editor, "retract", id=name)["refused"] == "nothing-to-undo"
        run(editor, "accept", id=name)
        card = run(editor, "retract", id=name)
        assert card["status"] == "candidate"
        assert log(made)[-1]["type"] == "retracted"


def test_keep_this_one(tmp_path: Path) -> None:
    text = CANDIDATE + "-- b/record.md --\n"
    editor, made = started(tmp_path, text)
    with editor:
        card = run(editor, "supersede", id=made.ids["a"], by=uri(made.path("record.md", "b")))
        assert card["id"] == made.ids["b"]
        assert editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "superseded"


def test_a_new_wording(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        card = run(editor, "supersede", id=made.ids["a"], summary="It buys twice", detail="Seen in a run.")
        assert card["status"] == "active"
        assert card["id"] != made.ids["a"]
        assert editor.request("memidex/inspect", {})["total"] == 2


def test_policy(tmp_path: Path) -> None:
    editor, made = started(tmp_path, CANDIDATE.replace("-- record.md --\n", '-- record.md --\nkind: "policy"\n'))
    with editor:
        policies = made.path("policies.md")
        policies.write_text("# Rules\n")
        editor.open(policies)
        assert "refused" not in run(editor, "accept", uri=uri(made.path("record.md")))
        assert made.ids["a"] in policies.read_text()
        assert "refused" not in run(editor, "retract", uri=uri(made.path("record.md")))
        assert made.ids["a"] not in policies.read_text()


@pytest.mark.parametrize(
    "more",
    [
        {"initializationOptions": {"trusted": False}, "settings": {"trusted": True}},
        {"initializationOptions": {"trusted": False, "memidex": {"rules": {}}}, "settings": {"trusted": True}},
        {"initializationOptions": {"trusted": False, "memidex": {"trusted": True}}},
        {"initializationOptions": {"memidex": {"trusted": False, "rules": {}}}, "settings": {"trusted": True}},
        {"initializationOptions": {"memidex.trusted": False}},
        {"settings": {"trusted": False}},
    ],
)
def test_untrusted(tmp_path: Path, more: dict[str, Any]) -> None:
    editor, made = started(tmp_path, **more)
    with editor:
        data = made.path(LOG).read_bytes()
        record = made.path("record.md")
        editor.open(record)
        lenses = editor.request("textDocument/codeLens", {"textDocument": {"uri": uri(record)}})
        assert lenses
        assert [lens["command"]["command"] for lens in lenses if lens["command"]["command"]] == []
        assert [
            one["title"] for one in offered(editor, record, {"line": 2, "character": 8}) if one.get("command")
        ] == []
        assert run(editor, "accept", id=made.ids["a"])["refused"] == "untrusted"
        assert run(editor, "gc")["refused"] == "untrusted"
        assert made.path(LOG).read_bytes() == data


def test_two_at_once_are_ordered(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        numbers = [
            editor.begin(
                "workspace/executeCommand", {"command": f"memidex.{name}", "arguments": [{"id": made.ids["a"]}]}
            )
            for name in ("accept", "contradict", "retract", "forget")
        ]
        answers = [editor.response(number)["result"] for number in numbers]
        assert [answer["status"] for answer in answers] == ["active", "active", "active", "deprecated"]
        kinds = [event["type"] for event in log(made)[1:]]
        assert kinds == ["confirmed", "promoted", "contradicted", "retracted", "deprecated", "window-close"]


def test_wrong_arguments(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        assert run(editor, "accept", id="nothing-there")["refused"] == "unknown-record"
        assert run(editor, "accept", id=made.ids["a"], root="/nowhere")["refused"] == "unknown-record"
        assert run(editor, "retract", id=made.ids["a"], events=["x"])["refused"] == "unknown-event"
        for arguments in ([], [{}], [7], [{"id": 7}], [{"id": "x"}, {}], [{"id": made.ids["a"], "events": [7]}]):
            answer = editor.call("workspace/executeCommand", {"command": "memidex.accept", "arguments": arguments})
            assert answer["error"]["code"] == -32602, arguments


def test_a_client_that_knows_no_answers_is_shown_the_refusal(tmp_path: Path) -> None:
    editor, made = started(tmp_path, capabilities=NEOVIM)
    with editor:
        number = editor.begin(
            "workspace/executeCommand", {"command": "memidex.seal", "arguments": [{"id": made.ids["a"]}]}
        )
        seen: list[Any] = []
        while not any(message.get("id") == number for message in seen):
            seen.append(editor.messages.get(timeout=20))
        assert any(message.get("method") == "window/showMessage" for message in seen)


def test_old_generations(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        assert run(editor, "gc", dryRun=True) == {"removed": [], "marked": [], "dryRun": True}
        assert run(editor, "gc", root=str(made.root)) == {"removed": [], "marked": []}
        answer = editor.call("workspace/executeCommand", {"command": "memidex.gc", "arguments": [{"root": "/x"}]})
        assert answer["error"]["code"] == -32602


def test_compare_shows_the_original(tmp_path: Path) -> None:
    editor, made = started(tmp_path, PROPOSAL, SHOWS)
    with editor:
        original = uri(made.path("record.md", "a"))
        assert run(editor, "compare", id=made.ids["b"])["original"] == original
        editor.until(lambda: any(one["method"] == "window/showDocument" for one in editor.asked))
        assert run(editor, "compare", id=made.ids["a"])["refused"] == "target-missing"


def test_compare_shows_nothing_to_a_client_that_shows_both(tmp_path: Path) -> None:
    editor, made = started(tmp_path, PROPOSAL, SHOWS)
    with editor:
        answer = run(editor, "compare", id=made.ids["b"], show=False)
        assert answer["proposal"] == uri(made.path("record.md", "b"))
        editor.settled()
        assert [one for one in editor.asked if one["method"] == "window/showDocument"] == []


def test_a_replacement_without_a_text_is_a_draft_to_be_worded(tmp_path: Path) -> None:
    editor, made = started(tmp_path, capabilities=SHOWS, settings=NEVER)
    with editor:
        data = made.path(LOG).read_bytes()
        card = run(editor, "supersede", id=made.ids["a"])
        assert card["status"] == "candidate"
        assert made.path(LOG).read_bytes() == data
        editor.until(lambda: any(one["method"] == "window/showDocument" for one in editor.asked))
        shown = next(one["params"]["uri"] for one in editor.asked if one["method"] == "window/showDocument")
        record = Path(made.root, "memory", "shop", "bundles", card["id"], "record.md")
        assert shown == uri(record)
        assert run(editor, "supersede", id=made.ids["a"])["refused"] == "replacement-exists"
        record.write_text(record.read_text().replace("Draft: ", ""))
        editor.changed(record)
        assert run(editor, "accept", id=card["id"])["status"] == "active"
        assert editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "superseded"


ABLE = {"window": {"showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}}}}


@pytest.mark.parametrize("word", ["Forget", "Cancel", None])
def test_what_touches_others_is_asked_about(tmp_path: Path, word: str | None) -> None:
    answers = {"window/showMessageRequest": lambda _: word and {"title": word}}
    editor, made = started(tmp_path, PROPOSAL, merged(KNOWS, ABLE), answers=answers)
    with editor:
        data = made.path(LOG).read_bytes()
        answer = run(editor, "forget", id=made.ids["a"])
        asked = [one["params"] for one in editor.asked if one["method"] == "window/showMessageRequest"]
        assert len(asked) == 1
        if word == "Forget":
            assert answer["status"] == "deprecated"
        else:
            assert answer["refused"] == "cancelled"
            assert made.path(LOG).read_bytes() == data


@pytest.mark.parametrize(("setting", "count"), [("never", 0), ("always", 2), ("whenOthersAreTouched", 1)])
def test_when_it_is_asked(tmp_path: Path, setting: str, count: int) -> None:
    text = PROPOSAL + "-- c/record.md --\n-- c/evidence/outcomes.jsonl --\n"
    answers = {"window/showMessageRequest": lambda _: {"title": "Forget"}}
    settings = {"confirmRetire": setting}
    editor, made = started(tmp_path, text, merged(KNOWS, ABLE), answers=answers, settings=settings)
    with editor:
        for nick in "ac":
            assert run(editor, "forget", id=made.ids[nick])["status"] == "deprecated"
        assert sum(one["method"] == "window/showMessageRequest" for one in editor.asked) == count


def test_the_record_that_is_kept_is_not_asked_about(tmp_path: Path) -> None:
    text = """-- record.md --
-- relations.json --
{"relations":[{"type":"conflicts-with","target":"@b"}]}
-- b/record.md --
-- b/relations.json --
{"relations":[{"type":"conflicts-with","target":"@a"}]}
"""
    editor, made = started(tmp_path, text, merged(KNOWS, ABLE), answers={"window/showMessageRequest": lambda _: None})
    with editor:
        for by in (made.ids["a"], uri(made.path("record.md"))):
            assert run(editor, "supersede", id=made.ids["b"], by=by)["id"] == made.ids["a"]
            assert "refused" not in run(editor, "retract", id=made.ids["b"])
        assert [one for one in editor.asked if one["method"] == "window/showMessageRequest"] == []


def test_others_are_served_while_a_person_thinks(tmp_path: Path) -> None:
    answers = {"window/showMessageRequest": lambda _: NotImplemented}
    editor, made = started(tmp_path, PROPOSAL, merged(KNOWS, ABLE), answers=answers)
    with editor:
        command = {"command": "memidex.forget", "arguments": [{"id": made.ids["a"], "seen": seen(made)}]}
        number = editor.begin("workspace/executeCommand", command)
        editor.until(lambda: any(one["method"] == "window/showMessageRequest" for one in editor.asked))
        assert run(editor, "confirm", id=made.ids["a"])["status"] == "active"
        asked = next(one for one in editor.asked if one["method"] == "window/showMessageRequest")
        editor.send(id=asked["id"], result={"title": "Forget"})
        assert editor.response(number)["result"]["refused"] == "stale"


def seen(made: Sketch, nick: str = "a") -> str:
    return tail(made.path(LOG, nick).read_bytes())


def offered(editor: Editor, path: Path, place: Any, only: list[str] | None = None, trigger: int = 1) -> list[Any]:
    diagnostics = editor.pushed.get(uri(path), {"diagnostics": []})["diagnostics"]
    context: dict[str, Any] = {"diagnostics": diagnostics, "triggerKind": trigger}
    if only:
        context["only"] = only
    wanted = {"textDocument": {"uri": uri(path)}, "range": {"start": place, "end": place}, "context": context}
    found: list[Any] = editor.request("textDocument/codeAction", wanted)
    return found


def place_of(editor: Editor, path: Path, rule: str) -> Any:
    editor.until(lambda: rule in editor.rules(path))
    found = editor.pushed[uri(path)]["diagnostics"]
    return next(item["range"]["start"] for item in found if item["data"]["rule"] == rule)


def test_accept_by_its_code_action(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        first, *others = offered(editor, record, place_of(editor, record, "awaiting-review"))
        assert first["title"].startswith("Accept")
        assert first["kind"] == "quickfix"
        assert [item["data"]["rule"] for item in first["diagnostics"]] == ["awaiting-review"]
        assert "source.memidex" in {other["kind"] for other in others}
        answer = editor.request(
            "workspace/executeCommand",
            {"command": first["command"]["command"], "arguments": first["command"]["arguments"]},
        )
        assert answer["status"] == "active"
        editor.until(lambda: "awaiting-review" not in editor.rules(record))
        again = {"command": first["command"]["command"], "arguments": first["command"]["arguments"]}
        assert editor.request("workspace/executeCommand", again)["refused"] in ("stale", "already-so")


def test_decisions_by_kind(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        place = place_of(editor, record, "awaiting-review")
        assert {action["kind"] for action in offered(editor, record, place, ["quickfix"])} == {"quickfix"}
        assert {action["kind"] for action in offered(editor, record, place, ["source.memidex"])} == {"source.memidex"}
        assert offered(editor, record, {"line": 0, "character": 0}, ["source.memidex"])
        assert not offered(editor, record, place, ["source"], 2)  # as an editor asks when it saves
        assert not offered(editor, record, place, ["refactor"])


def test_a_client_that_knows_commands_alone_gets_them(tmp_path: Path) -> None:
    capabilities = {"textDocument": {"codeAction": {"dynamicRegistration": False}}}
    editor, made = started(tmp_path, capabilities=capabilities)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        first = offered(editor, record, place_of(editor, record, "awaiting-review"))[0]
        assert first["command"] == "memidex.accept"
        assert first["arguments"][0]["seen"] == seen(made)


def test_lenses_are_pressed(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        lenses = editor.request("textDocument/codeLens", {"textDocument": {"uri": uri(record)}})
        commands = [lens["command"] for lens in lenses]
        accept = next(command for command in commands if command["command"] == "memidex.accept")
        wanted = {"command": accept["command"], "arguments": accept["arguments"]}
        assert editor.request("workspace/executeCommand", wanted)["status"] == "active"
        lenses = editor.request("textDocument/codeLens", {"textDocument": {"uri": uri(record)}})
        assert "active" in lenses[0]["command"]["title"]
        assert "memidex.accept" not in [lens["command"]["command"] for lens in lenses]


# What a second pair of eyes found -------------------------------------------------------------------------------------

VERIFIED = CANDIDATE.replace('"agent"', '"agent-verified"')
"""A candidate whose event counts, so that it can be taken back."""
OTHERS = '{"buildOrdinal":1,"id":"z-0","origin":"agent-verified","type":"contradicted"}\n'


def test_nothing_is_decided_before_the_settings_are_there(tmp_path: Path) -> None:
    answers = {"workspace/configuration": lambda _: NotImplemented}
    made = sketch(CANDIDATE, tmp_path)
    editor = Editor(tmp_path, capabilities=KNOWS, answers=answers)
    with editor:
        editor.until(lambda: any(one["method"] == "workspace/configuration" for one in editor.asked))
        record = made.path("record.md")
        editor.open(record)
        data = made.path(LOG).read_bytes()
        command = {"command": "memidex.accept", "arguments": [{"uri": uri(record)}]}
        number = editor.begin("workspace/executeCommand", command)
        editor.hover(record, 2, 8)
        assert made.path(LOG).read_bytes() == data
        asked = next(one for one in editor.asked if one["method"] == "workspace/configuration")
        editor.send(id=asked["id"], result=[{"trusted": False}])
        assert editor.response(number)["result"]["refused"] == "untrusted"
        assert made.path(LOG).read_bytes() == data


def test_trust_that_is_withdrawn_is_seen_in_what_is_offered(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        editor.open(made.path("record.md"))
        editor.settings = {"trusted": False}
        editor.notify("workspace/didChangeConfiguration", {"settings": None})
        assert run(editor, "accept", id=made.ids["a"])["refused"] == "untrusted"
        editor.until(lambda: any(one["method"] == "workspace/codeLens/refresh" for one in editor.asked))


@pytest.mark.parametrize(
    "options",
    [
        {"memidex": {"trusted": "false"}},
        {"memidex": {"trusted": 0}},
        {"memidex": None, "trusted": False},
        {"memidex": [], "trusted": False},
        {"memidex.trusted": False, "memidex": {"rules": {}}},
    ],
)
def test_what_is_not_plainly_trust_is_none(tmp_path: Path, options: Any) -> None:
    editor, made = started(tmp_path, initializationOptions=options)
    with editor:
        assert run(editor, "accept", id=made.ids["a"])["refused"] == "untrusted"


@pytest.mark.parametrize("options", [None, {}, {"trusted": None}, {"memidex": {"rules": {}}}])
def test_a_client_that_says_nothing_of_trust_decides(tmp_path: Path, options: Any) -> None:
    editor, made = started(tmp_path, initializationOptions=options)
    with editor:
        assert run(editor, "accept", id=made.ids["a"])["status"] == "active"


def test_a_line_that_the_person_does_not_see_is_not_decided_upon(tmp_path: Path) -> None:
    editor, made = started(tmp_path, VERIFIED)
    with editor:
        path = made.path(LOG)
        editor.open(path)
        run(editor, "accept", id=made.ids["a"])
        path.write_text(OTHERS + path.read_text())  # and the client has not read it again
        editor.changed(path)
        editor.until(lambda: editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "candidate")
        found = [
            one for one in offered(editor, path, {"line": 0, "character": 3}) if one["title"].startswith("Retract")
        ]
        assert [one["title"] for one in found] == ["Retract: confirmed of build 1"]
        data = path.read_bytes()
        command = found[0]["command"]
        answer = editor.request(
            "workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]}
        )
        assert answer["refused"] in ("stale", "unsaved-edits")
        assert path.read_bytes() == data


def test_an_event_is_taken_back_by_the_action_on_its_line(tmp_path: Path) -> None:
    editor, made = started(tmp_path, VERIFIED)
    with editor:
        path = made.path(LOG)
        editor.open(path)
        found = next(
            one for one in offered(editor, path, {"line": 0, "character": 3}) if one["title"].startswith("Retract")
        )
        assert "edit" not in found
        command = found["command"]
        editor.request("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
        assert [event["type"] for event in log(made)] == ["confirmed", "retracted"]
        assert log(made)[-1]["retracts"] == ["a-1"]


def test_an_open_record_wins_over_the_disk_after_a_decision_too(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        run(editor, "accept", id=made.ids["a"])
        record.write_text("<<<<<<< HEAD\n" * 30 + record.read_text())
        other = made.path(LOG)
        other.write_text(other.read_text() + '{"buildOrdinal":2,"id":"x","origin":"agent-verified","type":"helpful"}\n')
        editor.changed(record, other)
        editor.until(lambda: editor.request("memidex/card", {"id": made.ids["a"]})["counts"]["helpful"] == 1)
        editor.settled()
        assert "conflict-markers" not in editor.rules(record)
        assert editor.request("memidex/card", {"uri": uri(record)})["status"] == "active"


def test_a_key_typed_and_taken_back_in_an_older_log_loses_no_decision(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        path = made.path(LOG)
        text = path.read_text()
        editor.open(path)
        run(editor, "accept", id=made.ids["a"])
        editor.change(path, text + " ", 2)
        answer = run(editor, "contradict", id=made.ids["a"])
        assert answer["refused"] == "unsaved-edits"
        editor.change(path, text, 3)
        assert editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "active"
        assert run(editor, "contradict", id=made.ids["a"])["status"] == "active"


def test_who_has_an_older_text_is_not_told_to_save_it(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        path = made.path(LOG)
        editor.open(path)
        with path.open("a") as file:
            file.write('{"buildOrdinal":2,"id":"x","origin":"agent-verified","type":"helpful"}\n')
        editor.changed(path)
        answer = run(editor, "accept", id=made.ids["a"])
        assert answer["refused"] == "unsaved-edits"
        assert "save" not in answer["message"]
        assert "read it again" in answer["message"]


def test_words_of_a_record_make_no_link_in_a_question_or_an_action(tmp_path: Path) -> None:
    hostile = "[Fix it](command:workbench.action.quit) $(alert)"
    text = PROPOSAL.replace("-- record.md --\n", f"-- record.md --\n## Summary\n\n{hostile}\n\n## Detail\n\nd\n", 1)
    answers = {"window/showMessageRequest": lambda _: None}
    editor, made = started(tmp_path, text, merged(KNOWS, ABLE), answers=answers)
    with editor:
        record = made.path("record.md")
        editor.open(record)
        assert run(editor, "forget", id=made.ids["a"])["refused"] == "cancelled"
        asked = next(one["params"] for one in editor.asked if one["method"] == "window/showMessageRequest")
        assert "has nothing to replace" in asked["message"]
        titles = [one["title"] for one in offered(editor, record, {"line": 2, "character": 8})]
        assert any("Fix it" in title for title in titles)
        proposal = made.path("record.md", "b")
        editor.open(proposal)
        tips = [one["command"].get("tooltip") or "" for one in offered(editor, proposal, {"line": 2, "character": 8})]
        assert any("Fix it" in tip for tip in tips)
        for shown in (asked["message"], *titles, *tips):
            assert "](" not in shown
            assert "$(" not in shown


def test_an_answer_is_about_the_record_as_it_was_asked_about(tmp_path: Path) -> None:
    answers = {"window/showMessageRequest": lambda _: NotImplemented}
    editor, made = started(tmp_path, PROPOSAL, merged(KNOWS, ABLE), answers=answers)
    with editor:
        command = {"command": "memidex.forget", "arguments": [{"id": made.ids["a"]}]}
        number = editor.begin("workspace/executeCommand", command)
        editor.until(lambda: any(one["method"] == "window/showMessageRequest" for one in editor.asked))
        assert run(editor, "confirm", id=made.ids["a"])["status"] == "active"
        asked = next(one for one in editor.asked if one["method"] == "window/showMessageRequest")
        editor.send(id=asked["id"], result={"title": "Forget"})
        assert editor.response(number)["result"]["refused"] == "stale"


def test_a_root_is_named_with_or_without_a_slash_at_its_end(tmp_path: Path) -> None:
    editor, made = started(tmp_path)
    with editor:
        for root in (f"{made.root}/", f"{uri(made.root)}/", uri(made.root)):
            assert run(editor, "gc", root=root) == {"removed": [], "marked": []}


def test_lenses_and_hints_are_asked_for_again_after_a_decision(tmp_path: Path) -> None:
    refreshes = {"workspace": {"inlayHint": {"refreshSupport": True}}}
    editor, made = started(tmp_path, capabilities=merged(KNOWS, refreshes))
    with editor:
        record = made.path("record.md")
        editor.open(record)
        lenses = editor.request("textDocument/codeLens", {"textDocument": {"uri": uri(record)}})
        accept = next(lens["command"] for lens in lenses if lens["command"]["title"] == "Accept")
        editor.request("workspace/executeCommand", {"command": accept["command"], "arguments": accept["arguments"]})
        wanted = ("workspace/codeLens/refresh", "workspace/inlayHint/refresh")
        editor.until(lambda: all(any(one["method"] == method for one in editor.asked) for method in wanted))
        titles = [
            lens["command"]["title"]
            for lens in editor.request("textDocument/codeLens", {"textDocument": {"uri": uri(record)}})
        ]
        assert titles[0].startswith("active")
        assert "Accept" not in titles


def test_a_proposal_is_applied_from_its_lens(tmp_path: Path) -> None:
    editor, made = started(tmp_path, PROPOSAL, settings=NEVER)
    with editor:
        record = made.path("record.md", "b")
        editor.open(record)
        lenses = editor.request("textDocument/codeLens", {"textDocument": {"uri": uri(record)}})
        commands = {lens["command"]["title"]: lens["command"] for lens in lenses}
        assert {"Apply", "Compare"} <= commands.keys()
        apply = commands["Apply"]
        card = editor.request(
            "workspace/executeCommand", {"command": apply["command"], "arguments": apply["arguments"]}
        )
        assert card["status"] == "active"
        assert editor.request("memidex/card", {"id": made.ids["a"]})["status"] == "superseded"
