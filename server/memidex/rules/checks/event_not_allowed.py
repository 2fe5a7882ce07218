"""An event came when the record's status did not allow it, so it has no effect.

Only a candidate can be promoted, only a candidate or an active record superseded, and a deprecated record stays deprecated.
Often the log of two branches was joined, or the events came in another order than they were meant.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"forgotten","id":"x1"}
{"buildOrdinal":3,"origin":"user","type":"promoted","path":"user-sovereign","id":"x2"}
                                         ^^^^^^^^^^
{"buildOrdinal":3,"origin":"user","type":"superseded","id":"x3"}
                                         ^^^^^^^^^^^^
```

A decision that a person overruled does not count again either, until a later run confirms the record.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"overturned","overturns":"a-2","id":"u"}
{"buildOrdinal":3,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"p"}
                                                   ^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"overturned","overturns":"a-2","id":"u"}
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed","id":"c","at":"2026-03-01T00:00:00Z"}
{"buildOrdinal":3,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"p","at":"2026-03-01T00:00:01Z"}
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","id":"x1"}
{"buildOrdinal":3,"origin":"user","type":"deprecated","reason":"forgotten","id":"x2"}
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"forgotten","id":"x1"}
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["x1","a-2"],"id":"x2"}
{"buildOrdinal":3,"origin":"user","type":"promoted","path":"user-sovereign","id":"x3"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.history.standing import order_key
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.vocabulary import PROMOTABLE_KINDS
from memidex.rules.log_events import LOG, at, steps
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root

CHANGES_STATUS = frozenset({"promoted", "superseded", "deprecated"})
OTHERS = frozenset({"overturned"})
"""An agent's `overturned` is reported by agent-overturned."""


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    log = bundle.log
    changes = [index for index, event in enumerate(log.events) if event.type in CHANGES_STATUS]
    if len(changes) < 2:
        return ()
    if len(changes) == 2 and log.events[changes[0]].type == "promoted" and log.events[changes[1]].type != "promoted":
        first, second = (order_key(log.events[index], log.identities[index]) for index in changes)
        if first < second:
            return ()
    return without_effect(bundle)


def without_effect(bundle: Bundle) -> Iterator[Report]:
    promotable = bundle.record.kind in PROMOTABLE_KINDS
    for _, step in steps(bundle):
        kind = step.event.type
        if step.why and kind not in OTHERS and (kind != "promoted" or promotable):
            yield Report(LOG, at(step.line, "type"), f"`{kind}` has no effect: {step.why}")


RULE = Rule("MX207", "event-not-allowed", "warning", bundle=check)
