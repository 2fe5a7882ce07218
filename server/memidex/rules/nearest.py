"""Did you mean: the one word of a list that a misspelt one is surely meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(text: object, words: Iterable[str], at_least: float = 61.0) -> str | None:
    """The nearest word; None where none is near enough or two are as near."""
    from rapidfuzz import fuzz, process

    if not isinstance(text, str) or not text:
        return None
    found = process.extract(text, list(words), scorer=fuzz.ratio, processor=str.lower, limit=2, score_cutoff=at_least)
    if not found or (len(found) > 1 and found[0][1] == found[1][1]):
        return None
    return found[0][0]
