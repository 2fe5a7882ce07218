"""Words shown between the words of a text: what an id stands for, and trust after an event."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memidex.editor.card import steps, title
from memidex.editor.hover import MAX_DRAWN
from memidex.editor.markdown import plain
from memidex.editor.subject import LOG, addresses
from memidex.editor.view import View
from memidex.history import trust as sums
from memidex.text import Span

MAX_HINTS = 2_000


class Hint(NamedTuple):
    """A text shown at `offset` that is not in the file."""

    offset: int
    text: str


def hints(view: View, span: Span | None = None) -> list[Hint]:
    """The hints of a stretch of the text in view, by place; of all of it where none is given."""
    whole = Span(0, len(view.source))
    start, end = span or whole
    within = Span(max(0, min(start, whole.end)), max(0, min(end, whole.end)))
    return sorted(islice(each_hint(view, within), MAX_HINTS))


def each_hint(view: View, within: Span) -> Iterator[Hint]:
    # From the start of the first line, so that an address is not cut in two.
    start = max(view.source.line_span(view.source.line_of(within.start)).start, within.start - 200)
    for span, text in addresses(view.source.string, start, min(len(view.source), within.end + 200)):
        found = view.find(text) if within.start <= span.end <= within.end else None
        if found and found[1] is not view.entry:
            # Behind a closing quote, or it reads as part of the text in them.
            end = span.end + view.source.string.startswith('"', span.end)
            yield Hint(end, f"{plain(title(found[1]), 50)} · {found[1].status}")
    bundle = view.bundle
    if view.name != LOG or bundle is None or len(bundle.log.events) > MAX_DRAWN:
        return
    first, last = view.source.line_of(within.start), view.source.line_of(within.end)
    before = "candidate"
    for step in steps(bundle):
        if first <= step.line <= last:
            line = view.source.line_span(step.line)
            moved = f" {step.status}" if step.status != before else ""
            if within.start <= line.end <= within.end and line.end > line.start:
                yield Hint(line.end, f"{sums.shown(step.trust)}{moved}" if step.effective else "no effect")
        before = step.status
