"""Edits of `relations.json` keep its shape and its layout, and every other byte."""

from __future__ import annotations

import json

import pytest

from memidex.records.memidex.bundle import Bundle, read
from memidex.rules.relation_texts import addition, removal, target_at, type_at
from memidex.rules.rule import FileEdit
from memidex.text import Edit, apply

B, C = "fact-b-000000000000000b", "fact-c-000000000000000c"


def bundle(text: str) -> Bundle:
    return read("/kb/memory/p/bundles/x", "p", {"relations.json": text.encode()})


def after(text: str, edit: FileEdit | None) -> str:
    assert edit
    assert edit.path == "/kb/memory/p/bundles/x/relations.json"
    return apply(text, [Edit(edit.span, edit.text)])


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ('{"relations":[]}', '{"relations":[{"type":"relates-to","target":"T"}]}'),
        ('{"relations": []}', '{"relations": [{"type": "relates-to", "target": "T"}]}'),
        ("[]", '[{"type":"relates-to","target":"T"}]'),
        ("{}", '{"relations":[{"type":"relates-to","target":"T"}]}'),
        (
            '{"relations":[{"type":"x","target":"y"}]}\n',
            '{"relations":[{"type":"x","target":"y"},{"type":"relates-to","target":"T"}]}\n',
        ),
        ('[{"type": "x", "target": "y"}]', '[{"type": "x", "target": "y"}, {"type": "relates-to", "target": "T"}]'),
        (
            '{\r\n\t"relations": [\r\n\t\t{"type": "x", "target": "y"}\r\n\t]\r\n}',
            '{\r\n\t"relations": [\r\n\t\t{"type": "x", "target": "y"},\r\n\t\t{"type": "relates-to", "target": "T"}\r\n\t]\r\n}',
        ),
        ('{"relates-to":["y"]}', '{"relates-to":["y","T"]}'),
        ('{"derived-from": ["y"]}', '{"derived-from": ["y"],"relates-to": ["T"]}'),
        (
            '{"n":1,"relations":[],"more":[1, 2]}',
            '{"n":1,"relations":[{"type":"relates-to","target":"T"}],"more":[1, 2]}',
        ),
    ],
)
def test_a_relation_is_added_as_the_others_are_written(before: str, wanted: str) -> None:
    assert after(before, addition(bundle(before), "relates-to", "T", None)) == wanted


@pytest.mark.parametrize("indent", [2, 4, "\t"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_relation_added_to_a_pretty_file_stands_as_the_writer_would_have_put_it(
    indent: int | str, count: int
) -> None:
    relations = [
        {"type": "derived-from", "target": B, "atOrdinal": 1},
        {"type": "relates-to", "target": C, "atOrdinal": 2},
    ][:count]
    before = json.dumps({"relations": relations}, indent=indent) + "\n"
    wanted = (
        json.dumps({"relations": [*relations, {"type": "supersedes", "target": "T", "atOrdinal": 7}]}, indent=indent)
        + "\n"
    )
    assert after(before, addition(bundle(before), "supersedes", "T", 7)) == wanted


@pytest.mark.parametrize("text", ["", "{", '{"relations": 1}', "null", '{"relations":[{"type":1}]}'])
def test_nothing_is_added_to_what_is_no_list_of_relations(text: str) -> None:
    assert addition(bundle(text), "relates-to", "T", None) is None


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_relation_is_removed_with_its_comma_alone(indent: int | None, gone: int) -> None:
    relations = [{"type": "derived-from", "target": target} for target in (B, C, "z")]
    before = json.dumps({"relations": relations, "ours": [1]}, indent=indent)
    left = [relation for index, relation in enumerate(relations) if index != gone]
    assert after(before, removal(bundle(before), gone)) == json.dumps({"relations": left, "ours": [1]}, indent=indent)


def test_the_only_relation_leaves_an_empty_list() -> None:
    before = json.dumps({"relations": [{"type": "derived-from", "target": B}]}, indent=2)
    assert json.loads(after(before, removal(bundle(before), 0))) == {"relations": []}
    mapped = '{"derived-from": ["a"], "relates-to": ["b"]}'
    assert after(mapped, removal(bundle(mapped), 0)) == '{"derived-from": [], "relates-to": ["b"]}'


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ('{"relations":[{"type":"relates-to","target":"y"}]}', '"relates-to"', '"y"'),
        ('[{"target":"y","type":"relates-to"}]', '"relates-to"', '"y"'),
        ('{"relates-to":["y"]}', '"relates-to"', '"y"'),
        ('{"relates-to":[{"target":"y"}]}', '"relates-to"', '"y"'),
    ],
)
def test_type_and_target_are_found_in_each_of_the_three_shapes(text: str, kind: str, target: str) -> None:
    found = bundle(text)
    file = found.files["relations.json"]
    assert file.source[file.span(type_at(found, 0))] == kind
    assert file.source[file.span(target_at(found, 0))] == target
