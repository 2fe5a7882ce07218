"""An event is of a later build than the newest run of the product's ledger.

Builds are counted by `runs.jsonl`. An event beyond it is of a run that is not listed, or of another product's count; fading
and every "since build" are counted wrongly from it. A product without a ledger is not judged.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":4,"origin":"agent-verified","type":"confirmed"}
                ^
-- runs.jsonl --
{"ordinal":1}
{"ordinal":3}
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed"}
-- runs.jsonl --
{"ordinal":1}
{"ordinal":3}
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":40,"origin":"agent-verified","type":"confirmed"}
-- runs.jsonl (absent) --
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at, counting
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    runs = root.product(bundle.product).runs
    if not runs:
        return ()
    newest = runs[-1]
    for event in bundle.log.events:
        if event.ordinal > newest:
            break
    else:
        return ()
    return later(bundle, newest)


def later(bundle: Bundle, newest: int) -> Iterator[Report]:
    for line, event in counting(bundle.log):
        if event.ordinal > newest:
            message = f"`{event.type}` is of build {event.ordinal}, but the newest run of {bundle.product} is {newest}"
            yield Report(LOG, at(line, "buildOrdinal"), message)


RULE = Rule("MX211", "event-from-the-future", "warning", bundle=check)
