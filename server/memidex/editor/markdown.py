"""Text from an application under test, made fit to stand in Markdown that we emit: it is data and never markup."""

from __future__ import annotations

import re

from memidex.records import hidden

WHITE = re.compile(r"[\s\x00-\x1f\x7f\x85\u2028\u2029]+")
# Besides `hidden.HIDDEN`, what shows nothing in any writing: controls, soft hyphens, blanks, halves of a pair.
UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u2800\ufff0-\ufff8\ud800-\udfff]")
# What makes markup wherever it stands; a colon, a dot or an at sign only where a renderer would make a bare address of it.
MARKUP = re.compile(r"[\\`*_\[\]<>&|~]|\$(?=\()|:(?=\S)|@|(?<=[wW]{3})\.")
JOINED = re.compile(r"(\]|\$)(\()")
LINE_START = re.compile(r"(?:[#+=-]|[0-9]+(?=[.)]))")


def visible(text: str) -> str:
    """The text with every character that shows nothing, or turns the direction of others, spelt out: `‹U+202E›`.

    What the writing around it calls for, as an emoji does for a joiner, stays.
    """
    if not text.isascii():
        # Spelling one out may take from the next what called for it.
        while hits := list(hidden.find(text)):
            parts = [text[: hits[0].span.start]]
            for hit, after in zip(hits, [*(hit.span.start for hit in hits[1:]), len(text)], strict=True):
                parts += ("".join(map(spelt, text[hit.span.start : hit.span.end])), text[hit.span.end : after])
            text = "".join(parts)
    return UNSEEN.sub(lambda match: spelt(match.group()), text)


def spelt(char: str) -> str:
    return f"‹U+{ord(char):04X}›"


def escaped(text: str, limit: int = 400) -> str:
    """The text on one line as inline Markdown that reads as the text itself: no link, image, HTML, emphasis, code, table
    cell, heading or list, whatever it holds; cut after `limit` characters."""
    line = visible(WHITE.sub(" ", clipped(text, limit)).strip())
    inline = MARKUP.sub(lambda match: "\\" + match.group(), line)
    start = LINE_START.match(inline)
    if not start:
        return inline
    head = start.group()
    return f"\\{inline}" if not head.isdigit() else f"{head}\\{inline[len(head) :]}"


def code(text: str, limit: int = 200) -> str:
    """The text on one line as a code span that nothing in it can end."""
    line = visible(WHITE.sub(" ", clipped(text, limit)).strip())
    if not line:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def clipped(text: str, limit: int) -> str:
    """The text, or its beginning with a mark that more follows."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def plain(text: str, limit: int = 80) -> str:
    """The text on one line for places that show no Markdown: lenses, hints, labels, messages.

    Some make a link of `[a](b)` and a picture of `$(a)` all the same: a space keeps these apart.
    """
    return clipped(JOINED.sub(r"\1 \2", visible(WHITE.sub(" ", text[: 4 * limit]).strip())), limit)
