"""Hostile text stays text in the Markdown we emit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memidex.editor.markdown import MARKUP, UNSEEN, WHITE, code, escaped, plain, visible
from memidex.records import hidden

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PIECES = [
    "[x](command:a)", "![y](http://e.vil/p.png)", "<script>alert(1)</script>", "<img src=x onerror=y>", "<command:x>", "```",
    "~~~", "`", "``", "\n", "\r\n", "\n\n", "| a | b |\n|---|---|\n| c | d |", "---", "===", "# h", "> q", "- l", "1. n", "2) n",
    "*b*", "__b__", "~~s~~", "&lt;", "&#x202e;", "\\", "\\[", "$(zap)", "http://e.vil", "www.e.vil", "a@b.example", "[r]: http://e.vil",
    "\u202e", "\u200b", "\u2066", "\ufeff", "\U000e0041", "\ue000", "\x00", "\ud800", "👩\u200d👩", "❤\ufe0f", "\u2028", "\t", "    ", " ", "é", "word",
]  # fmt: skip
HOSTILE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join)


def words(tokens: list[Token]) -> str:
    """The text of one paragraph that holds nothing but text."""
    assert [token.type for token in tokens] in (["paragraph_open", "inline", "paragraph_close"], [])
    children = tokens[1].children or [] if tokens else []
    assert {child.type for child in children} <= {"text", "text_special"}, children
    return "".join(child.content for child in children)


def expected(text: str) -> str:
    return visible(WHITE.sub(" ", text).strip())


@given(HOSTILE)
def test_escaped_text_reads_as_itself_and_makes_no_markup(text: str) -> None:
    assert words(READER.parse(escaped(text, 10_000))) == expected(text)


@given(HOSTILE)
def test_escaped_text_makes_no_markup_behind_other_text_either(text: str) -> None:
    assert words(READER.parse(f"title: {escaped(text, 10_000)} (active)")) == f"title: {expected(text)} (active)"


@given(HOSTILE)
def test_escaped_text_in_bold_stays_in_bold(text: str) -> None:
    for token in READER.parse(f"**{escaped(text or 'x', 10_000)}**\n\n- {escaped(text, 10_000)}"):
        for child in token.children or []:
            assert child.type in ("text", "text_special", "strong_open", "strong_close")


@given(HOSTILE)
def test_a_code_span_holds_all_of_its_text(text: str) -> None:
    span = code(text, 10_000)
    children = READER.parse(f"x {span} y")[1].children or []
    if not expected(text):
        assert span == ""
    else:
        assert [child.type for child in children] == ["text", "code_inline", "text"]
        assert children[1].content == expected(text)


@given(HOSTILE)
def test_escaped_text_breaks_no_table_row(text: str) -> None:
    rows = READER.parse(f"| a | b |\n|---|---|\n| {escaped(text, 10_000)} | end |\n")
    cells = [rows[index + 1].content for index, token in enumerate(rows) if token.type == "td_open"]
    assert len(cells) == 2
    assert cells[1] == "end"


@given(HOSTILE)
def test_nothing_unseen_is_left_but_what_the_writing_around_it_calls_for(text: str) -> None:
    for out in (escaped(text, 10_000), code(text, 10_000), plain(text, 10_000), visible(text)):
        assert not UNSEEN.search(out)
    assert not list(hidden.find(visible(text)))


@pytest.mark.parametrize(
    "text", ["see http://e.vil/x", "see https://e.vil", "ftp://e.vil", "www.e.vil", "WWW.e.vil", "a.b@c.example"]
)
def test_no_bare_address_is_left_for_a_renderer_to_make_a_link_of(text: str) -> None:
    assert not re.search(r"(?i)https?:|ftp:|www\.|[a-z]@", escaped(text))


def test_what_is_cut_says_so() -> None:
    assert escaped("a" * 50, 10) == "a" * 9 + "…"


def test_hidden_characters_are_spelt_and_emoji_kept() -> None:
    assert visible("a\u202eb") == "a‹U+202E›b"
    assert visible("👩\u200d👩") == "👩\u200d👩"
    assert visible("a\u200db") == "a‹U+200D›b"
    assert visible("می\u200cخواهم") == "می\u200cخواهم", "Persian parts its words so"


def test_markup_characters_are_all_of_ascii_punctuation_so_that_a_backslash_holds_them() -> None:
    for char in "\\`*_[]<>&|~":
        assert MARKUP.fullmatch(char)
