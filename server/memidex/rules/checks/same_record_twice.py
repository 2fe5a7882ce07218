"""Another record says just the same under another id.

Both are live, with one kind, the same anchors, scope and claim: confirmations are divided between them, and each looks less
sure than it is. Two writers that make ids in their own ways do that. Records that `equivalent-to` joins are no finding.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- b/record.md --
id: "@b"
    ^^^^
anchors: [{"raw":{"t":"el","role":"button","name":"a","ordinal":0},"normalized":{"t":"el","role":"button","name":"a","ordinal":0}},{"raw":{"t":"platform","platform":"web"},"normalized":{"t":"platform","platform":"web"}}]
## Summary

button "a" resolved   as a verified element

## Detail

Seen.
```

```clean
-- b/record.md --
anchors: [{"raw":{"t":"el","role":"button","name":"a","ordinal":0},"normalized":{"t":"el","role":"button","name":"a","ordinal":0}}]
## Summary

button "a" resolved as a verified element

## Detail

Seen.
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.anchors import fold
from memidex.records.memidex.places import Place
from memidex.rules.relation_texts import called, joined
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root

SETTLED = frozenset({"equivalent-to"})
MAX_SHOWN = 10


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.main is None or not entry.summary or not entry.kind or not entry.standing.live:
        return ()
    row = root.anchors.get(entry.main, ())
    if len(row) < 2:
        return ()
    twins = [other for folder in row if (other := root.entries[folder]) is not entry and twin(root, entry, other)]
    if not twins:
        return ()
    twins.sort(key=lambda other: other.directory)
    place = Place(("id",))
    near = tuple(
        Related(other.directory, "record.md", place, "the same record under another id") for other in twins[:MAX_SHOWN]
    )
    more = f" and {len(twins) - 1} more" if len(twins) > 1 else ""
    message = f"{called(twins[0])}{more} has the same kind, anchors, scope and claim under another id"
    return [Report("record.md", place, message, related=near)]


def twin(root: Root, entry: Entry, other: Entry) -> bool:
    return (
        other.anchors == entry.anchors
        and other.kind == entry.kind
        and other.scope == entry.scope
        and other.standing.live
        and other.id != entry.id
        and fold(entry.summary) == fold(other.summary)
        and not joined(root, entry, other, SETTLED)
    )


RULE = Rule("MX310", "same-record-twice", "warning", store=check)
