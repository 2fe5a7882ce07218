"""Parsing takes any bytes: it never raises, never takes long, and says where it hurts."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memidex.history.standing import standing, timeline
from memidex.records.memidex import explain, read
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.bundle import read as read_bundle
from memidex.records.memidex.places import Node
from memidex.records.memidex.read import File
from memidex.records.memidex.vocabulary import MAX_FILE_SIZE
from records.json_strategies import ALL_FILES, FILES, damaged, records, texts

SECONDS = 4.0
"""Far above what any of it takes, and far below what a person would call hanging."""


def looked_at(name: str, data: bytes) -> File:
    """The file, after everything that can be asked of it was asked."""
    file = read.parse(name, data)
    assert file.data == data
    length = len(file.source)
    for problem in file.problems:
        span = file.span(problem.at)
        assert 0 <= span.start <= span.end <= length, problem
        assert problem.message
        assert "\n" not in problem.message
        problem.message.encode()
    if len(data) < 10_000:
        explain.file(name, data)
        assert file.layout
        if file.tree:
            assert_inside(file.tree, length)
        for line in range(len(file.source.line_starts)):
            file.line_tree(line)
    return file


def assert_inside(tree: Node, length: int) -> None:
    for _, node in tree.walk():
        assert 0 <= node.span.start <= node.span.end <= length


def whole(files: dict[str, bytes]) -> Bundle:
    """A bundle of these files, after what is worked out from it was."""
    bundle = read_bundle("/r/memory/p/bundles/b", "p", files)
    standing(bundle.record, bundle.log)
    timeline(bundle.record, bundle.log)
    assert bundle.integrity
    return bundle


@pytest.mark.parametrize("name", ALL_FILES)
@given(data=st.binary(max_size=300))
def test_random_bytes_are_read(name: str, data: bytes) -> None:
    looked_at(name, data)
    whole({name: data})


@given(data=st.binary(max_size=200))
def test_random_bytes_in_the_frontmatter_are_read(data: bytes) -> None:
    looked_at("record.md", b"---\n" + data + b"\n---\n\n## Summary\n\nx\n\n## Detail\n\ny\n")


FRONT = {
    "schemaVersion": b"2",
    "id": b'"fact-a-0123456789abcdef"',
    "kind": b'"fact"',
    "subtype": b'"behavioral"',
    "anchors": b'[{"raw":{"t":"flow","name":"n"},"normalized":{"t":"flow","name":"n"}}]',
    "scope": b'{"tier":"global"}',
    "createdAtOrdinal": b"0",
    "originClass": b'"user"',
    "evidenceIncomplete": b"false",
    "another": b'"x"',
}


@pytest.mark.parametrize("name", FRONT)
@pytest.mark.parametrize("wrong", [b"\x80", b"\xed\xa0\x80", b"\\ud800"])
def test_what_is_no_text_is_read_wherever_it_stands_in_a_value(name: str, wrong: bytes) -> None:
    value = FRONT[name]
    for at in range(len(value) + 1):
        front = {**FRONT, name: value[:at] + wrong + value[at:]}
        lines = b"".join(key.encode() + b": " + text + b"\n" for key, text in front.items())
        looked_at("record.md", b"---\n" + lines + b"---\n\n## Summary\n\nx\n\n## Detail\n\ny\n")


@given(data=st.text("abc:-[]{}&*!|>'\"#%@`,? \n\t~<=0123456789.", max_size=80))
@settings(max_examples=300)
def test_random_yaml_in_the_frontmatter_is_read(data: str) -> None:
    looked_at("record.md", f"---\n{data}\n---\n\n## Summary\n\nx\n\n## Detail\n\ny\n".encode())


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
def test_damaged_files_are_read(name: str, data: st.DataObject) -> None:
    text = data.draw(texts(name, wrong=True).flatmap(damaged))
    looked_at(FILES[name], text)
    whole({FILES[name]: text})


@given(
    record=records(wrong=True).flatmap(damaged),
    log=texts("event", wrong=True).flatmap(damaged),
    manifest=texts("manifest", wrong=True),
)
def test_a_bundle_of_damaged_files_is_read(record: bytes, log: bytes, manifest: bytes) -> None:
    looked_at("record.md", record)
    whole({"record.md": record, "evidence/outcomes.jsonl": log, "manifest.json": manifest})


def front(text: str) -> bytes:
    return f"---\n{text}\n---\n\n## Summary\n\nx\n\n## Detail\n\ny\n".encode("utf-8", "surrogatepass")


EVENT = b'{"buildOrdinal":1,"origin":"user","type":"confirmed"}'


def hostile() -> Iterator[tuple[str, bytes]]:
    """Texts that break readers: (what, bytes)."""
    yield "empty", b""
    yield "one newline", b"\n"
    yield "NUL bytes", b"\0" * 10_000
    yield "UTF-8 byte order mark alone", b"\xef\xbb\xbf"
    yield "UTF-16", "---\nid: x\n---\n".encode("utf-16")
    yield "UTF-16, other order", '{"a": 1}'.encode("utf-16-be")
    yield "latin-1", "---\nid: 'é'\n---\n## Summary\né".encode("latin-1")
    yield "binary", bytes(range(256)) * 1000
    yield "lone surrogates", b'{"a":"\xed\xa0\x80","b":"\\ud800"}\n'
    yield "open brackets", b"[" * 100_000
    yield "closed brackets", b"[" * 100_000 + b"]" * 100_000
    yield "open objects", b'{"a":' * 100_000
    yield "nested just too deep", b"[" * 70 + b"]" * 70
    yield "nested deep in an event", EVENT[:-1] + b',"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n"
    yield "brackets in YAML", front("a: " + "[" * 100_000)
    yield "closed brackets in YAML", front("a: " + "[" * 20_000 + "]" * 20_000)
    yield "braces in YAML", front("a: " + "{a: " * 50_000)
    yield "dashes in YAML", front("- " * 50_000)
    yield "question marks in YAML", front("? " * 50_000)
    yield "deep block mapping", front("\n".join(" " * n + "a:" for n in range(2_000)))
    yield (
        "a billion laughs",
        front("\n".join(["a: &a0 x", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))])),
    )
    yield (
        "laughs by merging",
        front(
            "\n".join(
                ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 30))]
            )
        ),
    )
    yield "an alias that holds itself", front("a: &a [*a]")
    yield "a mapping that holds itself", front("a: &a {b: *a}")
    yield "a merge of itself", front("a: &a {<<: *a}")
    yield "an alias as a key", front("a: &a [1]\n? *a\n: b")
    yield "a tag of Python", front("a: !!python/object/apply:os.system ['false']")
    yield "many anchors", front("\n".join(f"a{n}: &b{n} x" for n in range(20_000)))
    yield "many merges", front("a: &a {x: 1}\n" + "\n".join(f"b{n}: {{<<: *a}}" for n in range(5_000)))
    yield "a number of a million digits", b'{"buildOrdinal":' + b"9" * 1_000_000 + b"}\n"
    yield "a YAML number of a million digits", front("createdAtOrdinal: " + "9" * 1_000_000)
    yield "a sexagesimal number without end", front("createdAtOrdinal: 1" + ":59" * 100_000)
    yield "a hexadecimal number without end", front("createdAtOrdinal: 0x" + "f" * 200_000)
    yield "a binary number without end", front("createdAtOrdinal: 0b" + "1" * 200_000)
    yield "a fraction without end", b'{"samples":[{"value":0.' + b"1" * 1_000_000 + b"}]}"
    yield "an exponent without end", b'{"samples":[{"value":1e' + b"9" * 100_000 + b"}]}"
    yield "100,000 lines", EVENT[:-1] + b',"x"}\n' + (EVENT + b"\n") * 100_000
    yield "100,000 wrong lines", b"x\n" * 100_000
    yield "100,000 wrong events", b'{"buildOrdinal":-1,"type":7}\n' * 20_000
    yield "100,000 blank lines", b"\n" * 100_000
    yield "carriage returns alone", (EVENT + b"\r") * 20_000
    yield "CRLF with one lone CR", (EVENT + b"\r\n") * 3 + b"\r" + EVENT + b"\r\n"
    yield "duplicate keys", b"{" + b",".join([b'"buildOrdinal":1'] * 50_000) + b"}\n"
    yield "many keys", b"{" + b",".join(b'"k%d":1' % n for n in range(50_000)) + b"}\n"
    yield "duplicate fields", front("\n".join(["id: x"] * 20_000))
    yield "a long string that is not closed", b'{"a":"' + b"x" * 2_000_000
    yield "a long line of escapes", b'{"a":"' + b"\\u0041" * 200_000 + b'"}\n'
    yield "white space without end", b" " * 2_000_000
    yield "conflict markers", b"<<<<<<< a\n" + EVENT + b"\n=======\n" + EVENT + b"\n>>>>>>> b\n"
    yield "conflict markers without end", b"<<<<<<< a\n=======\n>>>>>>> b\n" * 20_000
    yield "nested conflict markers", b"<<<<<<< a\n" * 20_000 + b">>>>>>> b\n" * 20_000
    yield "headings without end", front("id: x").replace(b"\nx\n", b"\n## Summary\n\n" * 20_000)
    yield "a fence without end", front("id: x").replace(b"\nx\n", b"\n```\n" * 20_001)
    yield "allow comments without end", front("id: x") + b"<!-- memidex: allow a, b -->" * 20_000
    yield "half an allow comment", front("id: x") + b"<!-- memidex: allow " + b"a " * 100_000
    yield "tabs", front("\tid:\tx\n\t\tkind: y")
    yield "a document end inside", front("id: x\n...\nid: y")
    yield "several documents", front("id: x\n--- \nid: y")
    yield "a YAML directive", front("%YAML 9.9\n---\nid: x")
    yield "a date in another age", front("createdAtOrdinal: 99999-99-99\nid: 0000-00-00")
    yield (
        "a time out of range",
        b'{"buildOrdinal":1,"origin":"user","type":"confirmed","at":"9999-12-31T23:59:59-23:59"}\n',
    )
    yield (
        "a time before all times",
        b'{"buildOrdinal":1,"origin":"user","type":"confirmed","at":"0001-01-01T00:00:00+23:59"}\n',
    )
    yield "colons without end", front(": " * 50_000)
    yield "quotes without end", front("a: '" + "''" * 100_000)
    yield "a block scalar without end", front("a: |\n" + " x\n" * 100_000)
    yield "a comment without end", front("#" * 1_000_000)


HOSTILE = dict(hostile())


# Each is read in its own way; the others as one of these.
READ_DIFFERENTLY = (
    "record.md",
    "evidence/outcomes.jsonl",
    "observations.jsonl",
    "manifest.json",
    "relations.json",
    "provenance.json",
    "evidence/evidence.md",
)


@pytest.mark.parametrize("name", READ_DIFFERENTLY)
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_is_read_in_time(what: str, name: str) -> None:
    before = time.process_time()
    looked_at(name, HOSTILE[what])
    assert time.process_time() - before < SECONDS


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_worked_out_from_hostile_text_is_worked_out_in_time(what: str) -> None:
    before = time.process_time()
    whole({"record.md": HOSTILE[what], "evidence/outcomes.jsonl": HOSTILE[what]})
    assert time.process_time() - before < 2 * SECONDS


FULL = MAX_FILE_SIZE
WORST = {
    "newlines": b"\n" * FULL,
    "wrong lines": b"x\n" * (FULL // 2),
    "wrong events": b'{"type":7}\n' * (FULL // 11),
    "values": b"[" + b"1," * (FULL // 2 - 2) + b"1]",
    "values in YAML": b"---\na: [" + b"x," * (FULL // 2 - 40) + b"x]\n---\n",
    "brackets": b"[]," * (FULL // 3),
    "a string": b'"' + b"x" * (FULL - 2) + b'"',
    "a number": b"9" * FULL,
    "a sexagesimal number": b"---\na: 1" + b":59" * (FULL // 3 - 20) + b"\n---\n",
    "conflicts": b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n" * (FULL // 34),
    "one side of a conflict": b"<<<<<<< a\n" + b"".join(b"%d\n" % n for n in range(500_000)) + b"=======\n" + b"".join(b"%d\n" % n for n in range(500_000)) + b">>>>>>> b\n",
    "NUL bytes": b"\0" * FULL,
    "bytes that are not UTF-8": b"\xff" * FULL,
}  # fmt: skip


@pytest.mark.parametrize("name", ["record.md", "evidence/outcomes.jsonl", "relations.json"])
@pytest.mark.parametrize("what", WORST)
def test_the_largest_file_that_is_read_takes_seconds_at_most(what: str, name: str) -> None:
    before = time.process_time()
    file = read.parse(name, WORST[what])
    for problem in file.problems:
        file.span(problem.at)
    assert time.process_time() - before < 10


def test_a_file_of_many_wrong_lines_is_told_a_bounded_number_of_times() -> None:
    assert len(read.parse("evidence/outcomes.jsonl", b"x\n" * 10_000).problems) == explain.MAX_PROBLEMS


def test_conflict_markers_are_the_only_problem_of_a_file_and_the_record_stays() -> None:
    theirs = EVENT.replace(b"confirmed", b"helpful")
    file = read.parse("evidence/outcomes.jsonl", b"<<<<<<< a\n" + EVENT + b"\n=======\n" + theirs + b"\nx\n>>>>>>> b\n")
    assert [problem.rule for problem in file.problems] == ["conflict-markers"]
    assert [event.type for event in file.value.events] == ["confirmed", "helpful"]


def test_a_last_line_that_was_cut_short_is_a_torn_one_and_the_others_count() -> None:
    file = read.parse("evidence/outcomes.jsonl", EVENT + b"\n" + EVENT[:20])
    assert [problem.rule for problem in file.problems] == ["torn-line"]
    assert len(file.value.events) == 1


def test_each_wrong_line_is_one_problem_at_its_line_and_the_others_count() -> None:
    file = read.parse(
        "evidence/outcomes.jsonl", b"[]\n" + EVENT + b"\n{\n" + EVENT.replace(b"user", b"me") + b"\n" + EVENT + b"\n"
    )
    assert [file.source.position(file.span(problem.at).start)[0] for problem in file.problems] == [0, 2, 3]
    assert list(file.value.lines) == [1, 4]
