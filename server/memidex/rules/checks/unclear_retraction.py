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

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at
from memidex.rules.rule import Report, Rule, from_parser
from memidex.store.snapshot import Root

parsed = from_parser("unclear-retraction")


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    yield from parsed(bundle, root)
    for index, event in enumerate(bundle.log.events):
        if event.type == "retracted" and event.retracts == ():
            yield Report(
                LOG, at(bundle.log.lines[index], "retracts"), "`retracts` names no event, so nothing is taken back"
            )


RULE = Rule("MX214", "unclear-retraction", "warning", bundle=check)
