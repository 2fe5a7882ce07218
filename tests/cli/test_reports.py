"""The forms of a check's findings: each as its readers define it, and none that record text can break out of."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command import inside

from memidex.cli import reports
from memidex.cli.check import Checked, Located, Range
from memidex.cli.console import Console
from memidex.rules import registry
from memidex.rules.rule import Finding, Fix
from memidex.text import NOWHERE
from sketch import sketch

ROOT = "/w/agent-qa-knowledge"
BUNDLE = f"{ROOT}/memory/a, b: 100%/bundles/fact-x"
HOSTILE = 'a "b" <c> & 100% ::error::x\r\n]]> [link](http://x) {0} \x1b[31m \u202e \ud800 \uffff 次'


def located(message: str = HOSTILE, rule: str = "unknown-value", line: int = 3, *, lines: int = 1) -> Located:
    finding = Finding(
        registry.BY_NAME[rule],
        registry.BY_NAME[rule].severity,
        f"{BUNDLE}/record.md",
        NOWHERE,
        message,
        "fact-x",
        fixes=(Fix("Change it", ()),),
    )
    place = Range((line, 7), (line + lines - 1, 12))
    return Located(
        finding, place, ((f"{ROOT}/memory/p/bundles/other/record.md", Range((1, 1), (1, 2)), "here: " + message),)
    )


def printed(form: str, *items: Located, fails: str = "error", hints: bool = False) -> str:
    root = Checked(ROOT, frozenset([fails]), [BUNDLE, f"{ROOT}/memory/p/bundles/clean"], list(items))
    out = io.StringIO()
    reports.FORMATS[form](reports.Report([root], 1.25, hints), Console("/w", {}, out, io.StringIO(), lambda: 0.0))
    return out.getvalue()


@pytest.mark.parametrize("form", reports.FORMATS)
def test_no_form_prints_what_a_terminal_obeys_or_an_encoding_refuses(form: str) -> None:
    text = printed(form, located(), located(line=4))
    assert not {"\x1b", "\u202e", "\r"} & set(text)
    text.encode()


@pytest.mark.parametrize("form", ["text", "github"])
def test_a_finding_stays_on_its_line(form: str) -> None:
    lines = printed(form, located()).splitlines()
    assert len(lines) == (2 if form == "text" else 1)
    assert not [text for text in lines[1:] if text.lstrip().startswith("::")]


def test_text_has_the_related_places_indented() -> None:
    first, second = printed("text", located("wrong word")).splitlines()
    assert (
        first == "agent-qa-knowledge/memory/a, b: 100%/bundles/fact-x/record.md:3:7: error: wrong word [unknown-value]"
    )
    assert second == "    agent-qa-knowledge/memory/p/bundles/other/record.md:1:1: here: wrong word"


def test_json_tells_related_places_and_fixes_and_keeps_messages_as_they_are() -> None:
    finding = json.loads(printed("json", located()))["findings"][0]
    assert finding["message"] == HOSTILE
    assert finding["fixes"] == ["Change it"]
    assert finding["related"] == [
        {
            "path": "agent-qa-knowledge/memory/p/bundles/other/record.md",
            "range": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 2}},
            "message": "here: " + HOSTILE,
        }
    ]


def test_sarif_is_of_the_shape_that_its_readers_take() -> None:
    document: dict[str, Any] = json.loads(printed("sarif", located(), located(line=4)))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert driver["name"] == "memidex"
    assert [rule["id"] for rule in driver["rules"]] == [rule.code for rule in registry.RULES]
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
    assert {rule["defaultConfiguration"]["level"] for rule in driver["rules"]} <= {"none", "note", "warning", "error"}
    for result, line in zip(run["results"], (3, 4), strict=True):
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "MX105"
        assert result["level"] == "error"
        assert "\\[link\\](" in result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert region == {"startLine": line, "startColumn": 7, "endLine": line, "endColumn": 12}
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "agent-qa-knowledge/memory/a%2C%20b%3A%20100%25/bundles/fact-x/record.md"
        assert result["relatedLocations"][0]["id"] == 0
    prints = [result["partialFingerprints"]["memidex/v1"] for result in run["results"]]
    assert len(set(prints)) == 2


def test_sarif_names_files_outside_by_whole_uris() -> None:
    assert reports.uri("/tmp/a b/record.md") == "file:///tmp/a%20b/record.md"
    assert reports.uri("c:/x y/record.md") == "file:///c:/x%20y/record.md"


def test_a_fingerprint_stays_when_lines_move() -> None:
    def prints(line: int) -> list[str]:
        return [
            item["fingerprint"] for item in json.loads(printed("gitlab", located("one", line=line), located("two")))
        ]

    assert prints(3) == prints(40)
    assert len(set(prints(3))) == 2


def test_gitlab_has_the_five_members_of_an_issue() -> None:
    (issue,) = json.loads(printed("gitlab", located("wrong word")))
    assert re.fullmatch("[0-9a-f]{64}", issue.pop("fingerprint"))
    assert issue == {
        "description": "wrong word",
        "check_name": "unknown-value",
        "severity": "major",
        "location": {
            "path": "agent-qa-knowledge/memory/a, b: 100%/bundles/fact-x/record.md",
            "lines": {"begin": 3},
        },
    }


def test_github_escapes_data_and_properties() -> None:
    text = printed("github", located("100% a:b,c\nd")).rstrip("\n")
    assert text == (
        "::error title=unknown-value,file=agent-qa-knowledge/memory/a%2C b%3A 100%25/bundles/fact-x/record.md,"
        "line=3,endLine=3,col=7,endColumn=12::100%25 a:b,c%0Ad"
    )
    assert ",col=" not in printed("github", located(lines=3))


def test_junit_has_a_test_for_every_record_that_fails_by_what_fails_the_check() -> None:
    info = located("seen twice", "repeated-event")
    suites = ElementTree.fromstring(printed("junit", located(), info))
    assert suites.attrib == {"name": "memidex", "time": "1.250", "tests": "2", "failures": "1", "errors": "0"}
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    bad, clean = suite
    assert (bad.get("name"), bad.get("classname")) == ("fact-x", "a, b: 100%")
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("type") == "unknown-value"
    assert "<c> & 100%" in str(failure.get("message"))
    assert "record.md:3:7: error: " in str(failure.text)
    assert "seen twice" in str(bad.findtext("system-out"))
    assert len(clean) == 0


def test_junit_of_a_clean_root_is_all_passed(tmp_path: Path) -> None:
    sketch("-- record.md --", tmp_path)
    done = inside(tmp_path, "check", "--format", "junit")
    assert done.code == 0
    assert ElementTree.fromstring(done.out).get("failures") == "0"


def test_junit_has_findings_outside_of_records_too(tmp_path: Path) -> None:
    sketch("-- runs.jsonl (whole) --\n{not json", tmp_path)
    done = inside(tmp_path, "check", "--format", "junit", "--fail-on", "info")
    names = [str(case.get("name")) for case in ElementTree.fromstring(done.out).iter("testcase")]
    assert (done.code, "runs.jsonl" in names) == (1, True)


@pytest.mark.parametrize("form", reports.FORMATS)
def test_the_exit_code_is_the_same_in_every_form(form: str, tmp_path: Path) -> None:
    sketch('-- record.md --\nkind: "fct"', tmp_path)
    assert inside(tmp_path, "check", "--format", form).code == 1


@pytest.mark.parametrize("form", reports.FORMATS)
def test_every_form_can_say_that_nothing_was_found(form: str, tmp_path: Path) -> None:
    sketch("-- record.md --", tmp_path)
    assert inside(tmp_path, "check", "--format", form).code == 0
