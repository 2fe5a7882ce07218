"""Open documents, and the conversion of positions and uris, without a server."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.lsp import convert
from memidex.lsp.documents import Change, Documents, Place, Stretch, changed
from memidex.text import Encoding, Source, Span

TEXTS = st.text(st.sampled_from("ab\n\r\u2028\x0c\x85é\u20ac\U0001f600"), max_size=30)
ENCODINGS: st.SearchStrategy[Encoding] = st.sampled_from(("utf-8", "utf-16", "utf-32"))
PLACES = st.builds(Place, st.integers(-1, 8) | st.just(2**32 - 1), st.integers(-1, 40) | st.just(2**32 - 1))


def width(character: str, encoding: Encoding) -> int:
    return {
        "utf-8": len(character.encode()),
        "utf-16": len(character.encode("utf-16-le")) // 2,
        "utf-32": 1,
    }[encoding]


def slow_offset(string: str, place: Place, encoding: Encoding) -> int:
    """The offset of a position, character by character."""
    at = line = 0
    while line < place.line:
        if at == len(string):
            return at
        at += 2 if string.startswith("\r\n", at) else 1
        line += string[at - 1] in "\r\n"
    units = 0
    while at < len(string) and string[at] not in "\r\n" and units + width(string[at], encoding) <= place.character:
        units += width(string[at], encoding)
        at += 1
    return at


@given(TEXTS, PLACES, ENCODINGS)
def test_a_position_is_where_counting_by_hand_puts_it(string: str, place: Place, encoding: Encoding) -> None:
    assert convert.offset(Source(string), place, encoding) == slow_offset(string, place, encoding)


@given(TEXTS, ENCODINGS, st.data())
def test_an_offset_survives_the_way_to_the_client_and_back(
    string: str, encoding: Encoding, data: st.DataObject
) -> None:
    offset = data.draw(st.integers(0, len(string)))
    source = Source(string)
    back = convert.offset(source, convert.position(source, offset, encoding), encoding)
    inside = string[offset - 1 : offset + 1] == "\r\n"  # no position is between the two
    assert back == (offset - 1 if inside else offset)


@given(TEXTS, st.lists(st.tuples(PLACES, PLACES, TEXTS)), ENCODINGS)
def test_any_edits_equal_the_same_edits_of_a_plain_string(
    string: str, edits: list[tuple[Place, Place, str]], encoding: Encoding
) -> None:
    documents = Documents()
    documents.encoding = encoding
    documents.open("file:///a", "markdown", 1, string)
    documents.change("file:///a", 2, [Change(text, Stretch(start, end)) for start, end, text in edits])
    for start, end, text in edits:
        first, last = sorted((slow_offset(string, start, encoding), slow_offset(string, end, encoding)))
        string = string[:first] + text + string[last:]
    document = documents.find("file:///a")
    assert document is not None
    assert document.source.string == string
    assert document.source.line_starts == Source(string).line_starts


def test_a_change_without_a_range_is_the_whole_text() -> None:
    assert changed(Source("old"), Change("new\n"), "utf-16").string == "new\n"


def test_a_range_is_converted_at_both_ends() -> None:
    found = convert.range_(Source("a\n\U0001f600b"), Span(0, 4), "utf-16")
    assert (found.start.line, found.start.character, found.end.line, found.end.character) == (0, 0, 1, 3)


def test_a_thousand_cursors_in_a_long_text_take_no_second() -> None:
    documents = Documents()
    documents.open("file:///a", "markdown", 1, "some text of a line\n" * 50_000)
    edits = [Change("é", Stretch(Place(line, 3), Place(line, 4))) for line in range(0, 50_000, 50)]
    began = time.process_time()
    documents.change("file:///a", 2, edits)
    assert time.process_time() - began < 10
    document = documents.find("file:///a")
    assert document is not None
    assert document.source.string.count("é") == 1000


def test_a_document_is_found_under_each_spelling_of_its_uri() -> None:
    documents = Documents()
    documents.open("file:///a%2Bb/c d%C3%A9", "markdown", 1, "")
    assert "file:///a+b/c%20d%c3%a9" in documents
    assert "FILE://localhost/a+b/cdé".replace("cd", "c d") in documents
    assert [document.uri for document in documents] == ["file:///a%2Bb/c d%C3%A9"]
    assert documents.close("file:///a%2bb/c%20d%C3%A9") is not None
    assert len(documents) == 0


def test_a_document_of_another_scheme_is_kept_under_its_own_name() -> None:
    documents = Documents()
    documents.open("untitled:Untitled-1", "markdown", 1, "")
    assert "untitled:Untitled-1" in documents
    assert "untitled:untitled-1" not in documents
    assert documents.close("untitled:other") is None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c", "/a/b c"),
        ("file://localhost/a", "/a"),
        ("file:///a%3Ab", "/a:b"),
        ("file:///a%FF", "/a\udcff"),
        ("git:/a?ref", None),
        ("untitled:Untitled-1", None),
        ("/a/b", None),
        ("", None),
        ("file:///a%00b", None),
        ("file://[broken/a", None),
        ("file://", "/"),
    ],
)
def test_a_file_uri_names_a_path(uri: str, path: str | None) -> None:
    assert convert.path_in("posix", uri) == path


@pytest.mark.parametrize("uri", ["file:///c%3A/a/b", "file:///C:/a/b", "file:///c:/a/b", "file:///C%3a/a/b"])
def test_on_windows_a_drive_has_one_name(uri: str) -> None:
    path = convert.path_in("nt", uri)
    assert path == r"c:\a\b"
    assert convert.uri_in("nt", path) == "file:///c:/a/b"
    assert convert.uri_in("nt", r"C:\a\b") == "file:///c:/a/b"


def test_on_windows_a_share_is_a_host() -> None:
    assert convert.path_in("nt", "file://server/share/a") == r"\\server\share\a"
    assert convert.uri_in("nt", r"\\server\share\a") == "file://server/share/a"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_path_survives_the_way_to_a_uri_and_back(name: str) -> None:
    assert convert.path_in("posix", convert.uri_in("posix", f"/{name}")) == f"/{name}"
