"""An agent deprecated an active record, which only a person may.

An agent that finds an active record wrong supersedes it or raises an unknown; it cannot retire what is believed on its own.
The event takes effect all the same: a person should take it back, or deprecate the record in their own name.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"deprecated","reason":"retired","id":"d1"}
                           ^^^^^^^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"retired","id":"d1"}
```

```clean
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"d1"}
{"buildOrdinal":2,"origin":"agent-verified","type":"deprecated","reason":"retired","id":"d2"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at, steps
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    for event in bundle.log.events:
        if event.type == "deprecated" and event.origin != "user":
            break
    else:
        return ()
    return retired(bundle)


def retired(bundle: Bundle) -> Iterator[Report]:
    for before, step in steps(bundle):
        event = step.event
        if event.type == "deprecated" and event.origin != "user" and step.effective and before == "active":
            message = f'this retired an active record, but its origin is "{event.origin}", and only a person may'
            yield Report(LOG, at(step.line, "origin"), message)


RULE = Rule("MX213", "agent-retired-active", "error", bundle=check)
