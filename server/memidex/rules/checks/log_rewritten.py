"""The part of the log that was sealed is not what it was: history was changed.

A log is only ever appended to; what should not count is taken back by a later event. Trust and status are worked out
from these lines, so a changed line changes what is believed without leaving a trace. See what git says of the file.

```flagged
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"user","type":"confirmed"}
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
-- manifest.json --
{"files": {
  "record.md": "@hash(record.md)",
  "evidence/outcomes.jsonl": {"hash": "0000000000000000000000000000000000000000000000000000000000000000", "size": 20},
  "evidence/evidence.md": "@hash(evidence/evidence.md)",
  "observations.jsonl": "@hash(observations.jsonl)",
  "provenance.json": "@hash(provenance.json)",
  "relations.json": "@hash(relations.json)"
}}
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name, state in bundle.seals:
        if state == "rewritten":
            file = bundle.files[name]
            sealed = bundle.manifest.files.get(name) if bundle.manifest else None
            shorter = sealed and sealed.size is not None and len(file.data) < sealed.size
            how = (
                f"{sealed.size:,} bytes were sealed and {len(file.data):,} are left"
                if sealed and shorter
                else "lines that were sealed have changed"
            )
            yield Report(name, file.source.line_span(0), f"the log was rewritten: {how}. A log is only appended to")


RULE = Rule("MX403", "log-rewritten", "error", bundle=check)
