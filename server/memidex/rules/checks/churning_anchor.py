"""What the fact is about changes so often that it is not served.

A main anchor that was superseded more than three times within five runs is paused until five runs pass without another
supersession of it: whatever was learned last is as likely to be replaced as what came before. Something in the app or in the
tests is unsteady there.

```flagged
-- record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
-- b/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- b/evidence/outcomes.jsonl + --
{"buildOrdinal":1,"origin":"agent-verified","type":"superseded"}
-- c/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- c/evidence/outcomes.jsonl + --
{"buildOrdinal":1,"origin":"agent-verified","type":"superseded"}
-- d/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- d/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded"}
-- e/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- e/evidence/outcomes.jsonl + --
{"buildOrdinal":5,"origin":"agent-verified","type":"superseded"}
-- runs.jsonl --
{"ordinal":1}
{"ordinal":2}
{"ordinal":3}
{"ordinal":4}
{"ordinal":5}
{"ordinal":6}
```

```clean
-- record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- b/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- b/evidence/outcomes.jsonl + --
{"buildOrdinal":1,"origin":"agent-verified","type":"superseded"}
-- c/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- c/evidence/outcomes.jsonl + --
{"buildOrdinal":1,"origin":"agent-verified","type":"superseded"}
-- d/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- d/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded"}
-- runs.jsonl --
{"ordinal":1}
{"ordinal":2}
```

```clean
-- record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- b/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- b/evidence/outcomes.jsonl + --
{"buildOrdinal":1,"origin":"agent-verified","type":"superseded"}
-- c/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- c/evidence/outcomes.jsonl + --
{"buildOrdinal":1,"origin":"agent-verified","type":"superseded"}
-- d/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- d/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded"}
-- e/record.md --
anchors: [{"raw":{"t":"flow","name":"pay"},"normalized":{"t":"flow","name":"pay"}}]
-- e/evidence/outcomes.jsonl + --
{"buildOrdinal":6,"origin":"agent-verified","type":"superseded"}
-- runs.jsonl --
{"ordinal":1}
{"ordinal":2}
{"ordinal":3}
{"ordinal":4}
{"ordinal":5}
{"ordinal":6}
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.places import Place
from memidex.rules.rule import Report, Rule
from memidex.store import churn
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.kind != "fact" or entry.main is None or not entry.standing.live:
        return ()
    found = churn.churning(root, entry.main, entry.product)
    if not found:
        return ()
    message = (
        f"{entry.main} was superseded {found.times} times from build {found.first} to build {found.last}, "
        f"so the fact is not served until {churn.RUNS} runs pass without another"
    )
    return [Report("record.md", Place(("anchors", 0)), message)]


RULE = Rule("MX314", "churning-anchor", "warning", store=check)
