"""`inspect`, `get`, `resolve`, `brief`, `verify`, `rules`, `rule`, `demo`: shapes, answers and refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from command import environment, inside, process

from memidex.rules import registry
from memidex.store import opening
from sketch import Sketch, record_id, sketch

TWO = """\
-- record.md --
createdAtOrdinal: 1
## Summary

button "place order" places the order

## Detail

In the basket.
-- relations.json --
{"relations":[{"type":"relates-to","target":"@b"}]}
-- b/record.md --
kind: "caution"
- subtype
createdAtOrdinal: 2
## Summary

the payment form is slow

## Detail

Sometimes.
-- b/evidence/outcomes.jsonl --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":3,"origin":"user","type":"promoted","path":"user-sovereign"}
-- b/relations.json --
{"relations":[{"type":"relates-to","target":"@a"}]}
"""
ROW = [
    "id", "shortId", "uri", "format", "kind", "subtype", "scope", "status", "trust", "servedTrust", "unconfirmedSince",
    "counts", "origin", "validFrom", "validTo", "anchors", "summary", "relations", "integrity", "servable", "heldReason",
    "path",
]  # fmt: skip
EVENT = ["id", "type", "buildOrdinal", "origin", "at", "live", "trustAfter", "statusAfter", "line"]


@pytest.fixture
def drawn(tmp_path: Path) -> Sketch:
    return sketch(TWO, tmp_path)


# inspect --------------------------------------------------------------------------------------------------------------


def test_inspect_lists_the_rows_of_the_contract_by_creation(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "inspect", "--format", "json")
    assert done.code == 0
    assert list(done.json) == ["version", "ordinals", "records"]
    assert done.json["version"] == 1
    assert done.json["ordinals"] == {"shop": 3}
    rows = done.json["records"]
    assert [list(row) for row in rows] == [ROW, ROW]
    assert [(row["shortId"], row["id"]) for row in rows] == [("MEM-001", drawn.ids["a"]), ("MEM-002", drawn.ids["b"])]
    assert rows[0]["path"] == f"agent-qa-knowledge/memory/shop/bundles/{drawn.ids['a']}/record.md"
    assert (tmp_path / rows[0]["path"]).is_file()


@pytest.mark.usefixtures("drawn")
def test_inspect_shows_only_what_is_asked_for(tmp_path: Path) -> None:
    def kinds(*arguments: str) -> list[str]:
        return [row["kind"] for row in inside(tmp_path, "inspect", "--format", "json", *arguments).json["records"]]

    assert kinds() == ["fact", "caution"]
    assert kinds("--kind", "caution") == ["caution"]
    assert kinds("--status", "active") == ["fact", "caution"]
    assert kinds("--status", "deprecated") == []
    assert kinds("--product", "shop") == ["fact", "caution"]
    assert kinds("--as-of-build", "0") == []
    assert kinds("--as-of-build", "1") == ["fact"]
    assert kinds("--as-of-build", "2", "--status", "candidate") == ["caution"]
    assert kinds("--as-of-build", "3", "--status", "candidate") == []


@pytest.mark.usefixtures("drawn")
def test_inspect_prints_one_row_a_record(tmp_path: Path) -> None:
    done = inside(tmp_path, "inspect")
    first, second = done.out.splitlines()
    assert first.split()[:5] == ["MEM-001", "active", "0.75", "fact", record_id("a")]
    assert second.endswith("the payment form is slow")
    assert done.err == "2 records: 2 active (shop at build 3)\n"


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("command", ["inspect", "brief"])
def test_a_product_that_is_not_there_is_not_found(command: str, tmp_path: Path) -> None:
    done = inside(tmp_path, command, "--product", "shpo")
    assert (done.code, done.out) == (1, "")
    assert "did you mean `shop`?" in done.err


@pytest.mark.usefixtures("drawn")
def test_short_ids_stay_with_their_records(tmp_path: Path) -> None:
    inside(tmp_path, "inspect", "--kind", "caution")
    rows = inside(tmp_path, "inspect", "--format", "json").json["records"]
    assert [row["shortId"] for row in rows] == ["MEM-002", "MEM-001"]


def test_a_root_that_cannot_be_written_is_listed_without_short_ids(drawn: Sketch, tmp_path: Path) -> None:
    # A file where the folder of machine-local state belongs: not even the superuser can write there.
    (drawn.root / ".memidex").write_text("")
    rows = inside(tmp_path, "inspect", "--format", "json")
    assert rows.code == 0
    assert [row["shortId"] for row in rows.json["records"]] == [None, None]
    assert inside(tmp_path, "inspect").out.startswith("-  ")
    assert inside(tmp_path, "get", drawn.ids["a"]).code == 0
    assert inside(tmp_path, "resolve", "place order").code == 0
    assert inside(tmp_path, "check").code == 0


def test_a_root_of_many_records_is_read_once_and_then_followed(tmp_path: Path) -> None:
    drawn = sketch("\n".join(f"-- b{n}/record.md --" for n in range(500)), tmp_path)
    first = inside(tmp_path, "inspect", "--format", "json").json
    assert (drawn.root / ".memidex" / "index").is_file()
    assert opening.warm(drawn.root.as_posix()) is not None
    assert inside(tmp_path, "inspect", "--format", "json").json == first
    path = drawn.path("record.md", "b7")
    path.write_text(path.read_text().replace("verified element", "changed element"))
    rows = inside(tmp_path, "inspect", "--format", "json").json["records"]
    assert [row["id"] for row in rows if "changed" in row["summary"]] == [drawn.ids["b7"]]


def test_several_roots_are_told_and_none_is_guessed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        sketch("-- record.md --", tmp_path / name)
    done = inside(tmp_path, "inspect")
    assert (done.code, done.out) == (2, "")
    assert "--root one/agent-qa-knowledge" in done.err
    assert "--root two/agent-qa-knowledge" in done.err
    assert inside(tmp_path, "inspect", "--root", "two/agent-qa-knowledge").code == 0
    assert inside(tmp_path, "get", f"two/agent-qa-knowledge/memory/shop/bundles/{record_id('a')}").code == 0


def test_the_root_of_the_repository_is_found_from_any_folder_of_it(tmp_path: Path) -> None:
    sketch("-- record.md --", tmp_path / "repository")
    inner = tmp_path / "repository" / "tests" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    assert inside(inner, "inspect").code == 0
    assert inside(inner, "check").code == 0
    assert inside(inner, "check", ".").code == 2  # nothing below, and nothing else was asked for
    (inner / ".git").mkdir()
    assert inside(inner, "inspect").code == 2


# get ------------------------------------------------------------------------------------------------------------------


def test_a_card_has_just_the_keys_of_the_contract(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "get", drawn.ids["a"], "--format", "json")
    assert done.code == 0
    card = done.json
    at = ROW.index("relations")
    assert list(card) == [*ROW[:at], "detail", *ROW[at:-1], "events", "path"]
    assert card["detail"] == "In the basket."
    assert [list(event) for event in card["events"]] == [EVENT, EVENT]


def test_every_form_of_address_finds_the_same_record(drawn: Sketch, tmp_path: Path) -> None:
    record = drawn.ids["a"]
    inside(tmp_path, "inspect")
    folder = drawn.path("record.md").parent.relative_to(tmp_path).as_posix()
    for address in (
        record,
        "MEM-001",
        "mem-1",
        "agentqa://memory/MEM-1",
        f"agentqa://memory/{record}",
        folder,
        f"{folder}/",
        f"./{folder}/record.md",
        f"{folder}/evidence/outcomes.jsonl",
        drawn.path("manifest.json").as_posix(),
    ):
        done = inside(tmp_path, "get", address, "--format", "json")
        assert (done.code, done.json["id"]) == (0, record), address


def test_a_path_is_meant_from_where_one_stands(drawn: Sketch) -> None:
    for folder in (drawn.path("record.md").parent, drawn.path("evidence/outcomes.jsonl").parent):
        assert inside(folder, "get", ".", "--format", "json").json["id"] == drawn.ids["a"]


def test_the_card_for_people_tells_everything(drawn: Sketch, tmp_path: Path) -> None:
    inside(tmp_path, "inspect")
    text = inside(tmp_path, "get", "MEM-2").out
    for part in (
        "the payment form is slow\nMEM-002 · " + drawn.ids["b"],
        "active",
        "0.75 = (1 + 2) / (1 + 2 + 1)",
        "1 confirmed, 0 contradicted",
        "from build 2 on",
        "product shop",
        'button "b"',
        '↔ relates-to MEM-001: button "place order" places the order (active)',
        "sealed",
        "to runs of its scope",
        "  │ Sometimes.",
        "build 3",
    ):
        assert part in text


def test_a_card_can_be_of_an_earlier_build(drawn: Sketch, tmp_path: Path) -> None:
    assert (
        inside(tmp_path, "get", drawn.ids["b"], "--as-of-build", "2", "--format", "json").json["status"] == "candidate"
    )
    assert "(as of build 2)" in inside(tmp_path, "get", drawn.ids["b"], "--as-of-build", "2").out
    done = inside(tmp_path, "get", drawn.ids["b"], "--as-of-build", "1")
    assert (done.code, done.out) == (1, "")
    assert "was not there at build 1; it was created at build 2" in done.err


def test_an_address_that_is_not_there_is_not_found_and_the_nearest_are_told(drawn: Sketch, tmp_path: Path) -> None:
    done = inside(tmp_path, "get", "payment form")
    assert (done.code, done.out) == (1, "")
    assert drawn.ids["b"] in done.err
    assert inside(tmp_path, "get", "MEM-999").code == 1
    assert "no record has the short id MEM-999" in inside(tmp_path, "get", "MEM-999").err
    assert inside(tmp_path, "get", "a\0b").code == 1


def test_an_id_in_two_folders_is_not_guessed(tmp_path: Path) -> None:
    drawn = sketch('-- record.md --\n-- b/record.md --\nid: "@a"', tmp_path)
    done = inside(tmp_path, "get", drawn.ids["a"])
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n  agent-qa-knowledge/memory/shop/bundles/") == 2
    assert inside(tmp_path, "get", drawn.path("record.md", "b").as_posix()).code == 0


# resolve --------------------------------------------------------------------------------------------------------------


def test_free_text_finds_its_record_with_score_and_runners_up(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "resolve", "place", "order", "button", "--format", "json")
    assert done.code == 0
    assert list(done.json) == ["match", "score", "candidates", "ambiguous", "why"]
    assert list(done.json["match"]) == ROW
    assert done.json["match"]["id"] == drawn.ids["a"]
    assert done.json["match"]["shortId"]
    assert list(done.json["candidates"][0]) == [*ROW, "score"]
    assert done.json["candidates"][0]["score"] == done.json["score"] > 60
    assert done.json["ambiguous"] is False


def test_an_exact_address_wins(drawn: Sketch, tmp_path: Path) -> None:
    for address in (drawn.ids["b"], f"agentqa://memory/{drawn.ids['b']}", drawn.path("record.md", "b").as_posix()):
        found = inside(tmp_path, "resolve", address, "--format", "json").json
        assert (found["match"]["id"], found["score"]) == (drawn.ids["b"], 100.0)


def test_a_tie_and_a_weak_match_are_told_and_never_guessed(tmp_path: Path) -> None:
    same = "## Summary\n\nthe same claim\n\n## Detail\n\nx\n"
    sketch(f"-- record.md --\n{same}-- b/record.md --\n{same}", tmp_path)
    tie = inside(tmp_path, "resolve", "the same claim", "--format", "json")
    assert (tie.code, tie.json["match"], tie.json["ambiguous"]) == (1, None, True)
    assert len(tie.json["candidates"]) == 2
    text = inside(tmp_path, "resolve", "the same claim")
    assert text.code == 1
    assert len(text.out.splitlines()) == 2
    assert "several records match equally well" in text.err
    nothing = inside(tmp_path, "resolve", "zzzzzz", "--format", "json")
    assert (nothing.code, nothing.json["match"], nothing.json["score"]) == (1, None, None)


# brief ----------------------------------------------------------------------------------------------------------------


def test_a_brief_has_what_a_run_is_served_most_trusted_first(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "brief", "--product", "shop", "--format", "json")
    assert done.code == 0
    assert list(done.json) == ["version", "run", "served"]
    assert done.json["run"] == {"product": "shop", "suite": None, "test": None, "platform": None, "at": 3}
    assert {row["id"] for row in done.json["served"]} == set(drawn.ids.values())
    trusts = [row["servedTrust"] for row in done.json["served"]]
    assert trusts == sorted(trusts, reverse=True)
    assert [list(row) for row in done.json["served"]] == [[*ROW, "note"]] * 2


def test_what_is_held_back_is_told_with_its_reason(drawn: Sketch, tmp_path: Path) -> None:
    found = inside(tmp_path, "brief", "--product", "shop", "--at", "2", "--all", "--format", "json").json
    assert [row["id"] for row in found["served"]] == [drawn.ids["a"]]
    assert [(row["id"], row["heldReason"]) for row in found["held"]] == [(drawn.ids["b"], "not-active")]
    done = inside(tmp_path, "brief", "--product", "shop", "--platform", "ios", "--all")
    assert done.out.startswith("\nNot served:\nother-platform: ")
    assert done.err == "0 of 2 records would be served\n"


def test_a_brief_notes_what_is_no_longer_confirmed(tmp_path: Path) -> None:
    ledger = "\n".join(f'{{"ordinal":{n}}}' for n in range(1, 10))
    sketch(f"-- record.md --\n-- runs.jsonl (whole) --\n{ledger}", tmp_path)
    assert inside(tmp_path, "brief", "--product", "shop").out.startswith("0.45  MEM-001  ")
    assert inside(tmp_path, "brief", "--product", "shop").out.endswith("(unconfirmed since build 1)\n")


# verify ---------------------------------------------------------------------------------------------------------------


def test_verify_tells_the_state_of_every_bundle_and_file(drawn: Sketch, tmp_path: Path) -> None:
    done = process(tmp_path, "verify", "--format", "json")
    assert done.code == 0
    assert list(done.json) == ["version", "bundles", "summary"]
    assert done.json["summary"] == {
        "sealed": 2, "appended": 0, "edited": 0, "rewritten": 0, "incomplete": 0, "unknown": 0,
    }  # fmt: skip
    bundle = done.json["bundles"][0]
    assert list(bundle) == ["id", "path", "integrity", "files"]
    assert (bundle["path"], bundle["integrity"]) == (f"agent-qa-knowledge/memory/shop/bundles/{bundle['id']}", "sealed")
    assert {"path": "record.md", "state": "sealed"} in bundle["files"]
    assert {item["id"] for item in done.json["bundles"]} == set(drawn.ids.values())


@pytest.mark.parametrize(
    ("name", "change", "state", "code"),
    [
        ("record.md", "append", "edited", 1),
        ("evidence/outcomes.jsonl", "event", "appended", 0),
        ("evidence/outcomes.jsonl", "rewrite", "rewritten", 1),
        ("provenance.json", "remove", "incomplete", 1),
        ("manifest.json", "remove", "incomplete", 1),
        ("manifest.json", "unknown", "unknown", 0),
    ],
)
def test_verify_fails_by_what_was_changed(name: str, change: str, state: str, code: int, tmp_path: Path) -> None:
    drawn = sketch("-- record.md --", tmp_path)
    path = drawn.path(name)
    event = '{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}\n'
    match change:
        case "append":
            path.write_text(path.read_text() + "more\n")
        case "event":
            path.write_text(path.read_text() + event)
        case "rewrite":
            path.write_text(event + path.read_text())
        case "unknown":
            path.write_text('{"seals":[1]}')
        case _:
            path.unlink()
    done = inside(tmp_path, "verify", "--format", "json")
    assert (done.code, done.json["bundles"][0]["integrity"]) == (code, state)
    assert done.json["summary"][state] == 1
    assert {"path": name, "state": state} in done.json["bundles"][0]["files"]
    text = inside(tmp_path, "verify")
    assert f"/{name}: {state}: " in text.out
    assert text.err == f"1 bundle: 1 {state}\n"


# rules ----------------------------------------------------------------------------------------------------------------


def test_every_rule_is_listed(tmp_path: Path) -> None:
    rows = process(tmp_path, "rules", "--format", "json").json["rules"]
    assert [row["code"] for row in rows] == [rule.code for rule in registry.RULES]
    assert [list(row) for row in rows] == [["code", "name", "severity", "sentence", "fixable"]] * len(rows)
    assert next(row for row in rows if row["name"] == "stored-derived-field")["fixable"] is True
    lines = inside(tmp_path, "rules").out.splitlines()
    assert [text.split()[:2] for text in lines] == [[rule.code, rule.name] for rule in registry.RULES]


@pytest.mark.parametrize("name", ["unknown-value", "MX105", "mx105", "Unknown-Value"])
def test_a_rule_has_its_page_by_name_or_code(name: str, tmp_path: Path) -> None:
    done = inside(tmp_path, "rule", name)
    assert done.code == 0
    assert done.out.startswith("# MX105 unknown-value\n\nSeverity: error\n\n")
    assert "```flagged\n" in done.out
    document = inside(tmp_path, "rule", name, "--format", "json").json
    assert list(document) == ["code", "name", "severity", "sentence", "fixable", "page"]


def test_a_rule_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    done = inside(tmp_path, "rule", "unknown-valeu")
    assert (done.code, done.out) == (1, "")
    assert "did you mean `unknown-value`?" in done.err


# demo and lsp ---------------------------------------------------------------------------------------------------------


def test_the_demonstration_shows_mends_and_leaves_nothing_behind(tmp_path: Path) -> None:
    example = Path(str(files("memidex"))) / "example"
    before = {path: path.stat().st_mtime_ns for path in example.rglob("*")}
    done = process(tmp_path, "demo", TMPDIR=tmp_path.as_posix())
    assert (done.code, done.err) == (0, "")
    assert "[unknown-value]" in done.out
    assert "byte for byte as it was sealed" in done.out
    assert list(tmp_path.iterdir()) == []
    assert {path: path.stat().st_mtime_ns for path in example.rglob("*")} == before


def test_the_server_answers_on_stdio_and_ends_when_told(tmp_path: Path) -> None:
    def message(text: str) -> bytes:
        return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()

    talk = [
        f'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"processId":{os.getpid()},"rootUri":null,"capabilities":{{}}}}}}',
        '{"jsonrpc":"2.0","method":"initialized","params":{}}',
        '{"jsonrpc":"2.0","id":2,"method":"shutdown"}',
        '{"jsonrpc":"2.0","method":"exit"}',
    ]
    command = [sys.executable, "-m", "memidex", "lsp", "--stdio"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(),
        input=b"".join(map(message, talk)),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"Content-Length: ")
    assert b'"memidex"' in done.stdout


def test_verify_says_of_a_folder_and_of_a_file_that_was_not_read_what_they_are(tmp_path: Path) -> None:
    drawn = sketch("-- record.md --", tmp_path)
    bundle = drawn.path("record.md").parent
    (bundle / "more").mkdir()
    (bundle / "more" / "x.txt").write_text("x")
    drawn.path("relations.json").unlink()
    drawn.path("relations.json").mkdir()
    out = inside(tmp_path, "verify").out
    assert "/more: incomplete: there, but the manifest does not list it\n" in out
    assert "/relations.json: unknown: there is a folder or a device where a file belongs\n" in out
