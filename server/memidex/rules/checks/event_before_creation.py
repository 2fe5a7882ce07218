"""An event is of an earlier build than the one at which the record was created.

The record holds from `createdAtOrdinal` on, so nothing can have been said of it before: one of the two counts is wrong.

```flagged
-- record.md --
createdAtOrdinal: 2
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed"}
                ^
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
```

```clean
-- record.md --
createdAtOrdinal: 2
-- evidence/outcomes.jsonl --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place
from memidex.rules.log_events import LOG, at, counting
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    created = bundle.record.created
    for event in bundle.log.events:
        if event.ordinal < created:
            break
    else:
        return ()
    return earlier(bundle, created)


def earlier(bundle: Bundle, created: int) -> Iterator[Report]:
    there = Related(bundle.directory, "record.md", Place(("createdAtOrdinal",)), f"created at build {created}")
    for line, event in counting(bundle.log):
        if event.ordinal < created:
            message = f"`{event.type}` is of build {event.ordinal}, but the record was created at build {created}"
            yield Report(LOG, at(line, "buildOrdinal"), message, related=(there,))


RULE = Rule("MX210", "event-before-creation", "warning", bundle=check)
