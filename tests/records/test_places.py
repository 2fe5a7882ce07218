"""Where values stand: every span holds the text of its value, in JSON, in lines of JSON, in YAML and in `record.md`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.records.memidex import read
from memidex.records.memidex.places import Node, Place, Unreadable, json_tree, layout, yaml_tree
from memidex.records.memidex.read import File
from memidex.text import Source, Span
from records.json_strategies import ANYTHING, FILES, TEXT, records, texts


def all_hold_their_value(tree: Node, string: str) -> None:
    for path, node in tree.walk():
        assert tree.get(path) is node
        assert tree.span_of(Place(path)) == node.span
        assert json.loads(string[node.span.start : node.span.end]) == node.value
        for name, (key, child) in node.members.items():
            assert json.loads(string[key.start : key.end]) == name
            assert tree.span_of(Place((*path, name), "key")) == key
            assert key.end < child.span.start
            assert tree.at(key.start) == Place((*path, name), "key")


@given(value=ANYTHING, indent=st.sampled_from([None, 2]), ascii_only=st.booleans(), before=TEXT)
def test_each_span_of_a_json_tree_holds_its_value(
    value: Any, indent: int | None, ascii_only: bool, before: str
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    start = len(before)
    tree = json_tree(before + text + "]}", start, start + len(text))
    assert tree.value == value
    assert tree.span == Span(start, start + len(text))
    all_hold_their_value(tree, before + text)


@given(value=ANYTHING)
def test_a_cursor_in_a_json_tree_is_told_the_innermost_place_around_it(value: Any) -> None:
    text = json.dumps(value, indent=1)
    tree = json_tree(text)
    for offset in range(len(text) + 1):
        place = tree.at(offset)
        assert place is not None
        assert tree.span_of(place).holds(offset)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
def test_each_place_of_a_file_holds_its_value(name: str, data: st.DataObject) -> None:
    raw = data.draw(texts(name, wrong=False))
    file = read.parse(FILES[name], raw)
    string = file.source.string
    if not FILES[name].endswith(".jsonl"):
        assert file.tree
        all_hold_their_value(file.tree, string)
        return
    for line in range(raw.count(b"\n")):
        tree = file.line_tree(line)
        assert tree
        for path, node in tree.walk():
            span = file.span(Place((line, *path)))
            assert span == (node.span if path else file.source.line_span(line))
            assert json.loads(file.source[span]) == node.value


@given(data=records(wrong=False))
def test_each_place_of_a_record_holds_its_value(data: bytes) -> None:
    file = read.parse("record.md", data)
    front = file.layout.front
    assert front.members
    for name, (key, node) in front.members.items():
        assert file.source[key] == name
        assert file.span(Place((name,), "key")) == key
        assert file.span(Place((name,))) == node.span
        for path, inner in node.walk():
            assert json.loads(file.source[file.span(Place((name, *path)))]) == inner.value
    for section in ("Summary", "Detail"):
        assert file.source[file.span(Place((f"## {section}",), "key"))].split()[:2] == ["##", section]


def test_a_place_that_is_not_there_is_the_nearest_thing_around_it() -> None:
    text = '{"a": {"b": [1, 2]}}'
    tree = json_tree(text)
    assert text[slice(*tree.span_of(Place(("a", "b", 7))))] == "[1, 2]"
    assert text[slice(*tree.span_of(Place(("a", "c"))))] == '{"b": [1, 2]}'
    assert text[slice(*tree.span_of(Place(("z", "c"), "key")))] == text
    assert read.parse("relations.json", b"").span(Place(("relations",))) == Span(0, 0)
    assert read.parse("relations.json", b"{").span(Place(("relations",))) == Span(0, 1)
    assert read.parse("evidence/outcomes.jsonl", b"{\n[]\n").span(Place((9, "x"))) == Span(5, 5)


# YAML -----------------------------------------------------------------------------------------------------------------


def record(front: str) -> File:
    return read.parse("record.md", f"---\n{front}\n---\n\n## Summary\n\none\n\n## Detail\n\ntwo\n".encode())


def front_value(front: str) -> Any:
    file = record(front)
    assert file.layout.unreadable is None, file.layout.unreadable
    return file.layout.front.value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: plain text", "plain text"),
        ("a: 'single'", "single"),
        ("a: yes", "yes"),
        ("a: Off", "Off"),
        ("a: TRUE", True),
        ("a: 012", 12),
        ("a: 0o12", 10),
        ("a: 0x1f", 31),
        ("a: -7", -7),
        ("a: 1_000", "1_000"),
        ("a: .5", 0.5),
        ("a: 12:30:45", "12:30:45"),
        ("a: 2026-01-31", "2026-01-31"),
        ("a: 1999-13-45", "1999-13-45"),
        ("a:", None),
        ("a: [1, 2,]", [1, 2]),
        ("a: 1 # one", 1),
        ('a: "\\ud83d\\ude00"', "😀"),
        ("a: 1e5", 1e5),
        ('a: "\x85"', "\x85"),
        ('a: "\x7f"', "\x7f"),
        ("a: >\n  folded\n  text", "folded text\n"),
        ("a:\n  - 1\n  - b: 2", [1, {"b": 2}]),
        ("a: &x [1]\nb: *x", [1]),
        ("a: !!str 7", "7"),
        ("1: one\na: 2", 2),
        ("a: ~", None),
    ],
)
def test_a_value_is_read_as_json_where_all_lines_are_and_as_yaml_where_one_is_not(line: str, value: Any) -> None:
    assert front_value(line)["a"] == value


def test_one_line_that_is_not_json_makes_the_whole_frontmatter_yaml() -> None:
    assert front_value('a: 1e5\nb: "x"') == {"a": 1e5, "b": "x"}
    assert front_value("a: 1e5\nb: x") == {"a": 1e5, "b": "x"}


@pytest.mark.parametrize(
    "text",
    ["id: plain-text", "id: 'quoted'", "id: >-\n  folded", "more: 1\nid: x", "id: &a x\nmore: *a", "id:   x  # why"],
)
def test_the_span_of_a_yaml_scalar_holds_its_text(text: str) -> None:
    file = record(text)
    node = file.layout.front.get(("id",))
    assert node
    assert node.value in {"plain-text", "quoted", "folded", "x"}
    assert node.value in file.source[file.span(Place(("id",)))]
    assert file.source[file.span(Place(("id",), "key"))] == "id"


def test_spans_in_nested_yaml_hold_their_text() -> None:
    file = record(
        "scope:\n  tier: product\n  key: 日本 😀\nanchors:\n- raw: {t: page, url: /a}\n  normalized: {t: page, url: /b}"
    )
    shown = {path: file.source[file.span(Place(path))] for path, _ in file.layout.front.walk()}
    assert shown["scope", "key"] == "日本 😀"
    assert shown["anchors", 0, "normalized", "url"] == "/b"
    assert shown["anchors", 0, "raw"] == "{t: page, url: /a}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [1", "expected"),
        ("a: b: c", "mapping values"),
        ("\ta: 1", "cannot start any token"),
        ("- 1\n- 2", "not a mapping"),
        ("just text", "not a mapping"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        ("a: !mine x", "could not determine a constructor"),
        ("a: *nothing", "undefined alias"),
        ("a: &x [*x]", "alias that holds itself"),
        ("a: !!int x", "not YAML"),
        ("a: \x01 b\nc: d", "does not allow"),
        ("? [1, 2]\n: x", "unhashable"),
        ("<<: 7\na: b", "merging"),
    ],
)
def test_what_is_no_yaml_is_told_at_its_place(text: str, told: str) -> None:
    file = record(text)
    assert file.layout.unreadable
    assert told in file.layout.unreadable.message
    assert [problem.rule for problem in file.problems] == ["unreadable-frontmatter"]
    span = file.span(file.problems[0].at)
    assert 4 <= span.start <= span.end <= 4 + len(text) + 2  # the closing line, where the YAML ends too early


def test_a_merge_key_gives_its_members() -> None:
    assert front_value("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2")["c"] == {"b": 1, "d": 2}


def test_a_repeated_key_is_told_at_its_second_place_in_json_and_in_yaml() -> None:
    for text in ('id: "a"\nkind: "fact"\nid: "b"', "id: a\nkind: fact\nid: b"):
        file = record(text)
        assert file.layout.front.value["id"] == "b"
        (repeated,) = [problem for problem in file.problems if problem.rule == "repeated-field"]
        assert file.source.position(file.span(repeated.at).start) == (3, 0)


def test_a_mapping_is_read_as_yaml_only_up_to_a_bound_of_values() -> None:
    bomb = "\n".join(
        ["a0: &a0 [x,x,x,x,x,x,x,x,x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    )
    with pytest.raises(Unreadable, match="expand to more than"):
        yaml_tree(bomb, 0, len(bomb))


def test_a_layout_is_made_of_any_text() -> None:
    assert layout(Source("")).unreadable
    assert layout(Source("---")).unreadable
    assert layout(Source("---\n---")).closing == Span(4, 7)
    assert [section.name for section in layout(Source("## Summary\nx")).sections] == ["Summary"]
