"""Characters that a reader does not see, where they stand in text that has no need of them.

Scripts and emoji that are written with joiners, selectors and direction marks keep theirs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from memidex.text import Span

HIDDEN = re.compile(
    "[\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# The same in UTF-8, for a text of which all ASCII was taken away.
ENCODED = re.compile(
    rb"\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\xa0\x8e)|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])|\xe3\x85\xa4|\xee"
    rb"|\xef(?:[\x80-\xa3]|\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb9-\xbb])|\xf3[\xa0\xb0-\xbf]|\xf4"
)
ASCII = bytes(range(128))
FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
# Scripts whose letters take joiners: Arabic to the Indic ones, Myanmar, Khmer, Mongolian, and their later blocks.
JOINING = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\u1a20-\u1aaf\u1b00-\u1cff\ua840-\ua8ff\ua980-\ua9df\uaa00-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
# Scripts without spaces, whose words a zero-width space parts.
UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf]")
PICTURE = re.compile("[\xa9\xae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]")
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u1000-\u109f\ua840-\ua87f\U00020000-\U0003ffff]")
NEAR = 40
"""Characters on either side in which a direction mark looks for letters that run from right to left."""


class Hit(NamedTuple):
    """A run of hidden characters and what they are called."""

    span: Span
    what: str


def telling(data: bytes) -> bool:
    """Whether a text (UTF-8) may hold hidden characters, as they are or escaped as in JSON; False is certain."""
    if not data.isascii() and ENCODED.search(data.translate(None, ASCII)):
        return True
    return b"\\" in data and (b"\\u" in data or b"\\U" in data or b"\\N" in data)


def find(text: str) -> Iterator[Hit]:
    """Each run of hidden characters that its surroundings do not call for, by position."""
    start = end = -1
    flags = [match.span() for match in FLAG.finditer(text)] if "\U000e007f" in text else []
    for match in HIDDEN.finditer(text):
        at = match.start()
        if called_for(text, at) or any(first <= at < after for first, after in flags):
            continue
        if at != end and start >= 0:
            yield Hit(Span(start, end), named(text[start:end]))
        if at != end:
            start = at
        end = at + 1
    if start >= 0:
        yield Hit(Span(start, end), named(text[start:end]))


def called_for(text: str, at: int) -> bool:
    """Whether the writing around a hidden character needs it."""
    character = text[at]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    match character:
        case "\u200d":  # zero width joiner
            picture = PICTURE.match(before) or before == "\ufe0f"
            return bool((picture and PICTURE.match(after)) or JOINING.match(before))
        case "\u200c":  # zero width non-joiner
            return bool(JOINING.match(before) and not HIDDEN.match(after))
        case "\u200b":  # zero width space
            return bool(UNSPACED.match(before) and UNSPACED.match(after))
        case "\u200e" | "\u200f" | "\u061c":  # direction marks
            near = text[max(0, at - NEAR) : at + NEAR]
            return any(
                unicodedata.bidirectional(letter) in ("R", "AL", "AN")
                for letter in near
                if letter not in "\u200f\u061c"
            )
        case "\ufe0e" | "\ufe0f":  # text or emoji form
            return bool(PICTURE.match(before) or (before and before in "0123456789#*"))
        case "\u115f" | "\u1160":  # Hangul fillers
            return "\u1100" <= before <= "\u11ff" or "\u1100" <= after <= "\u11ff"
        case "\u180e":
            return "\u1800" <= before <= "\u18af"
        case _:
            selector = "\ufe00" <= character <= "\ufe0d" or "\U000e0100" <= character <= "\U000e01ef"
            return selector and bool(IDEOGRAPH.match(before) or (before and unicodedata.category(before) == "Sm"))


def named(run: str) -> str:
    """What a run is called; what hidden characters spell is not repeated."""
    kinds = list(dict.fromkeys(kind(character) for character in run))
    if len(run) == 1:
        name = unicodedata.name(run, "")
        return f"{kinds[0]} character U+{ord(run):04X}" + (f" ({name.lower()})" if name else "")
    return f"{len(run)} {' and '.join(kinds)} characters from U+{ord(run[0]):04X}"


def kind(character: str) -> str:
    if character in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        return "bidirectional"
    if "\U000e0000" <= character <= "\U000e007f":
        return "tag"
    if unicodedata.category(character) == "Co":
        return "private-use"
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return "variation-selector"
    return "zero-width"
