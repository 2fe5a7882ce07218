"""Columns in the units a client counts in: UTF-8 bytes, UTF-16 code units or code points (LSP `PositionEncodingKind`)."""

from __future__ import annotations

from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The units before code point `column` of `line`, clamped to the line."""
    if encoding == "utf-32" or line.isascii():
        return min(column, len(line))
    head = line[:column]
    if encoding == "utf-8":
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head.encode("utf-16-le", "surrogatepass")) // 2


def from_units(line: str, units: int, encoding: Encoding) -> int:
    """The code point column at `units` of `line`, clamped; inside a character means before it."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    if encoding == "utf-8":
        return len(line.encode("utf-8", "surrogatepass")[:units].decode("utf-8", "ignore"))
    return len(line.encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "ignore"))
