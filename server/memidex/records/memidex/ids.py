"""Record ids: their form on read, and how one is made (contract, section 4)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import msgspec

from memidex.records.memidex.anchors import fold
from memidex.records.memidex.values import AnyTarget, Scope

FORM = re.compile(r"(fact|caution|procedure|unknown|policy)-([a-z0-9]+(?:-[a-z0-9]+)*)-([0-9a-f]{16})")
IN_TEXT = re.compile(rf"(?<![\w-]){FORM.pattern}(?![\w-])")
SHORT_ID = re.compile(r"(?<![\w-])MEM-([0-9]{1,9})(?![\w-])", re.IGNORECASE)
URI = re.compile(r"agentqa://memory/([A-Za-z0-9-]+)", re.IGNORECASE)
MAX_SLUG = 48


def kind_of(record_id: str) -> str | None:
    """The kind that an id of the right form names; None for any other text."""
    match = FORM.fullmatch(record_id)
    return match.group(1) if match else None


def slug(target: AnyTarget) -> str:
    """The readable middle of an id: lower-case ASCII words of the main anchor, at most 48 characters, cut at a word."""
    plain = unicodedata.normalize("NFKD", f"{target.t} {target.words}").encode("ascii", "ignore").decode().lower()
    text = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    while len(text) > MAX_SLUG:
        text = text.rpartition("-")[0] if "-" in text else text[:MAX_SLUG]
    return text or "x"


def canonical(value: Any) -> bytes:
    """RFC 8785 for the values an identity is made of: text, whole numbers, lists and objects."""
    return msgspec.json.encode(value, order="deterministic")


def mint(kind: str, subtype: str | None, anchors: Sequence[AnyTarget], scope: Scope, summary: str) -> str:
    """The id of a record with these normalized anchors; the same on every machine."""
    whole = {
        "kind": kind,
        "subtype": subtype,
        "anchors": [msgspec.to_builtins(anchor) for anchor in anchors],
        "scope": {name: part for name, part in msgspec.to_builtins(scope).items() if part is not None},
        "claim": fold(summary),
    }
    return f"{kind}-{slug(anchors[0])}-{hashlib.sha256(canonical(whole)).hexdigest()[:16]}"


def uuid7(milliseconds: int, chance: bytes) -> str:
    """The UUIDv7 (RFC 9562) of an instant, in milliseconds since 1970, and ten bytes of chance."""
    number = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(chance[:10], "big")
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
