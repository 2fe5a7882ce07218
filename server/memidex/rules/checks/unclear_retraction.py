"""A `retracted` or `overturned` event names no event in a way that is known.

It has no effect. `retracts` is a list of the identities of events, and `overturns` is one identity; another writer may name
its target in its own way.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"retracted","target":"a-1"}
                                         ^^^^^^^^^^^
```

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":[]}
                                                                ^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["a-1","a-2"]}
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at, from_log
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root

parsed = from_log("unclear-retraction")


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    found = list(parsed(bundle, root))
    log = bundle.log
    for index, event in enumerate(log.events):
        if event.retracts == ():
            message = "`retracts` names no event, so nothing is taken back"
            found.append(Report(LOG, at(log.lines[index], "retracts"), message))
    return found


RULE = Rule("MX214", "unclear-retraction", "warning", bundle=check)
