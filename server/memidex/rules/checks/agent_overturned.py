"""An agent wrote an `overturned` event, which only a person may.

To overturn is a person's last word on an agent's decision. An agent's has no effect: what it names still counts.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"overturned","overturns":"a-2","id":"o1"}
                           ^^^^^^^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"overturned","overturns":"a-2","id":"o1"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at, counting
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    for event in bundle.log.events:
        if event.type == "overturned" and event.origin != "user":
            break
    else:
        return ()
    return overturned(bundle)


def overturned(bundle: Bundle) -> Iterator[Report]:
    for line, event in counting(bundle.log):
        if event.type == "overturned" and event.origin != "user":
            yield Report(
                LOG,
                at(line, "origin"),
                f'`overturned` has no effect: its origin is "{event.origin}", and only a person may overturn',
            )


RULE = Rule("MX212", "agent-overturned", "error", bundle=check)
