"""How an anchor is compared: its normalized form (contract, section 3)."""

from __future__ import annotations

import re
import unicodedata

from memidex.records.memidex.values import (
    AnyTarget,
    Element,
    ErrorMessage,
    Flow,
    Page,
    Platform,
    Selector,
)

ORIGIN = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)
UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
VARIABLE_SEGMENT = re.compile(rf"(?<=/)(?:[0-9]+|{UUID}|[0-9a-fA-F]{{16,}})(?=/|$)")
VARIABLE_TEXT = re.compile(rf"{UUID}|\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*[0-9])[0-9a-f]{{16,}}\b", re.IGNORECASE)
DIGITS = re.compile(r"[0-9]+")
# Quoted strings and paths say what failed, so their digits stay.
KEPT = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|(?<![\w/])(?:[\w.-]*/)[\w./-]+")


def fold(text: str) -> str:
    """Unicode NFC, trimmed, every run of white space one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def normalized(target: AnyTarget) -> AnyTarget:
    """The form in which an anchor is compared; normalizing twice changes nothing."""
    match target:
        case Element():
            return Element(fold(target.role).lower(), fold(target.name).lower(), target.ordinal)
        case Page():
            return Page(page(target.url))
        case Flow():
            return Flow(fold(target.name))
        case Platform():
            return target
        case Selector():
            return Selector(fold(target.value))
        case ErrorMessage():
            return ErrorMessage(error(target.message))


def page(url: str) -> str:
    path = re.split(r"[?#]", ORIGIN.sub("", fold(url)), maxsplit=1)[0]
    path = VARIABLE_SEGMENT.sub(":id", path)
    return path.rstrip("/") or "/"


def error(message: str) -> str:
    text = fold(message)
    parts: list[str] = []
    at = 0
    for kept in KEPT.finditer(text):
        parts += (variables(text[at : kept.start()]), kept.group())
        at = kept.end()
    return fold("".join([*parts, variables(text[at:])]).lower())


def variables(text: str) -> str:
    return DIGITS.sub("#", VARIABLE_TEXT.sub(":id", text))
