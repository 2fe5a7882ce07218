"""Text from an application under test, made fit to stand in Markdown that we emit: it is data and never markup."""

from __future__ import annotations

import re
import unicodedata

WHITE = re.compile(r"[\s\x00-\x1f\x7f\x85\u2028\u2029]+")
# Format, control and private-use characters, and others that show nothing; the odd ones out are listed by number.
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# What makes markup wherever it stands; a colon, a dot or an at sign only where a renderer would make a bare address of it.
MARKUP = re.compile(r"[\\`*_\[\]<>&|~]|\$(?=\()|:(?=\S)|@|(?<=[wW]{3})\.")
LINE_START = re.compile(r"(?:[#+=-]|[0-9]+(?=[.)]))")
JOINERS = "\u200d\ufe0e\ufe0f"


def visible(text: str) -> str:
    """The text with every character that shows nothing, or turns the direction of others, spelt out: `‹U+202E›`."""
    return UNSEEN.sub(spelt, text)


def spelt(match: re.Match[str]) -> str:
    char = match.group()
    # The joiner and the selectors inside an emoji are what they were made for.
    if (
        char in JOINERS
        and match.start()
        and unicodedata.category(match.string[match.start() - 1]) in ("So", "Sk", "Mn")
    ):
        before = match.string[match.start() - 1]
        if unicodedata.category(before) != "Mn" or before == "\ufe0f":
            return char
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
    """The text on one line for places that show no Markdown: lenses, hints, labels."""
    return clipped(visible(WHITE.sub(" ", text[: 4 * limit]).strip()), limit)
