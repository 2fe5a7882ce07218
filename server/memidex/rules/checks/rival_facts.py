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

from memidex.learning.rivals import rivals
from memidex.records.memidex.places import Place
from memidex.rules.relation_texts import called
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root

MAX_SHOWN = 10


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.standing.status != "active":
        return ()
    found = rivals(root, entry)
    if not found:
        return ()
    place = Place(("## Summary",))
    near = tuple(Related(other.directory, "record.md", place, f"{other.id} claims this") for other in found[:MAX_SHOWN])
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    message = f"another active fact about {entry.main} claims something else: {called(found[0])}{more}"
    return [Report("record.md", place, message, related=near)]


RULE = Rule("MX308", "rival-facts", "warning", store=check)
