"""The bundle holds a file that its manifest does not list.

Nothing vouches for it: it may be a note left by hand, or a file that was added without sealing the bundle again. What
an operating system or git puts into folders (`.DS_Store`, `.gitignore`) is left alone, and so is `artifacts/`.

```flagged
-- relations.json --
{"relations":[]}
^^^^^^^^^^^^^^^^
-- manifest.json --
{"files": {
  "record.md": "@hash(record.md)",
  "evidence/outcomes.jsonl": "@hash(evidence/outcomes.jsonl)",
  "evidence/evidence.md": "@hash(evidence/evidence.md)",
  "observations.jsonl": "@hash(observations.jsonl)",
  "provenance.json": "@hash(provenance.json)"
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
  "relations.json": "@hash(relations.json)"
}}
-- .DS_Store --
not ours
-- artifacts/step-1.png --
a picture
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name, state in bundle.seals:
        if state != "incomplete" or name == "manifest.json":
            continue
        file = bundle.files.get(name)
        if file:
            yield Report(name, file.source.line_span(0), f"{name} is not listed in manifest.json")
        elif name in bundle.others:
            yield Report(
                "manifest.json", Place(("files",), "key"), f"{name} is in the folder and not listed in manifest.json"
            )


RULE = Rule("MX404", "unlisted-file", "warning", bundle=check)
