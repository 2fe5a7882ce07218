"""The manifest lists a file that is not there.

What the record rested on is gone: a partial copy, a merge that dropped it, or a file removed by hand. A file that every
bundle has is reported as `missing-file` instead, and a listed artifact may be absent on another machine.

```flagged
-- manifest.json --
{"files": {
  "record.md": "@hash(record.md)",
  "evidence/outcomes.jsonl": "@hash(evidence/outcomes.jsonl)",
  "evidence/evidence.md": "@hash(evidence/evidence.md)",
  "evidence/gates.jsonl": "0000000000000000000000000000000000000000000000000000000000000000",
  ^^^^^^^^^^^^^^^^^^^^^^
  "observations.jsonl": "@hash(observations.jsonl)",
  "provenance.json": "@hash(provenance.json)",
  "relations.json": "@hash(relations.json)"
}}
```

```clean
-- manifest.json --
{"files": {
  "record.md": "@hash(record.md)",
  "evidence/outcomes.jsonl": "@hash(evidence/outcomes.jsonl)",
  "evidence/evidence.md": "@hash(evidence/evidence.md)",
  "observations.jsonl": "@hash(observations.jsonl)",
  "provenance.json": "@hash(provenance.json)",
  "relations.json": "@hash(relations.json)",
  "artifacts/step-1.png": "0000000000000000000000000000000000000000000000000000000000000000"
}}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.rules.sealed import listed, needs
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name, state in bundle.seals:
        if state != "incomplete" or name == "manifest.json" or name in bundle.files or name in bundle.others:
            continue
        if not needs(bundle, name):
            yield Report(
                "manifest.json", listed(bundle, name) or Place(), f"{name} is listed here and is not in the bundle"
            )


RULE = Rule("MX405", "listed-file-missing", "error", bundle=check)
