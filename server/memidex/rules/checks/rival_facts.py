"""Two active facts of one subtype, main anchor and scope claim different things.

Either is served, and nothing tells which is right: one should supersede the other, or be retired. Facts of different
platforms are no rivals, nor are two that a relation already calls equivalent, in conflict, or old and new.

```flagged
-- record.md --
## Summary

button "a" opens the cart
^^^^^^^^^^^^^^^^^^^^^^^^^

## Detail

Seen.
-- b/record.md --
anchors: [{"raw":{"t":"el","role":"button","name":"a"},"normalized":{"t":"el","role":"button","name":"a"}}]
## Summary

button "a" opens the checkout
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

## Detail

Seen.
```

```clean
-- b/record.md --
anchors: [{"raw":{"t":"el","role":"button","name":"a"},"normalized":{"t":"el","role":"button","name":"a"}}]
subtype: "selector"
-- c/record.md --
anchors: [{"raw":{"t":"el","role":"button","name":"a"},"normalized":{"t":"el","role":"button","name":"a"}},{"raw":{"t":"platform","platform":"ios"},"normalized":{"t":"platform","platform":"ios"}}]
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.anchors import fold
from memidex.records.memidex.places import Place
from memidex.rules.relation_texts import called, joined
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root

SETTLED = frozenset({"supersedes", "superseded-by", "conflicts-with", "equivalent-to"})
MAX_SHOWN = 10


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.kind != "fact" or entry.main is None or entry.standing.status != "active":
        return ()
    row = root.anchors.get(entry.main, ())
    if len(row) < 2:
        return ()
    rivals = [other for folder in row if (other := root.entries[folder]) is not entry and rival(root, entry, other)]
    if not rivals:
        return ()
    rivals.sort(key=lambda other: other.directory)
    place = Place(("## Summary",))
    near = tuple(
        Related(other.directory, "record.md", place, f"{other.id} claims this") for other in rivals[:MAX_SHOWN]
    )
    more = f" and {len(rivals) - 1} more" if len(rivals) > 1 else ""
    message = f"another active fact about {entry.main} claims something else: {called(rivals[0])}{more}"
    return [Report("record.md", place, message, related=near)]


def rival(root: Root, entry: Entry, other: Entry) -> bool:
    return (
        other.kind == "fact"
        and other.standing.status == "active"
        and other.subtype == entry.subtype
        and other.scope == entry.scope
        and (entry.platform is None or other.platform is None or entry.platform == other.platform)
        and fold(entry.summary) != fold(other.summary)
        and not joined(root, entry, other, SETTLED)
    )


RULE = Rule("MX308", "rival-facts", "warning", store=check)
