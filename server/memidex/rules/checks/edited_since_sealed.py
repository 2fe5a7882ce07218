"""A file of the bundle is not what its manifest sealed.

The manifest says what the writer left. A file that differs was changed by hand, by a merge or by another tool: look at
it before it is believed. A log that only grew is no finding, and one whose sealed part changed is `log-rewritten`.

Files that differ by nothing but their line ends, as a checkout on another system leaves them, are told together.

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
  "provenance.json": "@hash(provenance.json)",
  "relations.json": "0000000000000000000000000000000000000000000000000000000000000000"
}}
```

```clean
-- relations.json --
{"relations":[]}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle, differs_by_line_ends
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    edited = [name for name, state in bundle.seals if state == "edited"]
    if not edited:
        return
    turned = [name for name in edited if only_line_ends(bundle, name)]
    if turned:
        first, others = turned[0], len(turned) - 1
        files = f"{first} differs from its seal" if not others else f"{first} and {others} more differ from their seals"
        yield report(
            bundle,
            first,
            f"{files} only by line ends, as after a checkout that converts them; `* -text` in .gitattributes keeps them",
        )
    for name in edited:
        if name not in turned:
            yield report(bundle, name, f"{name} is not what manifest.json sealed: it was changed since by another hand")


def only_line_ends(bundle: Bundle, name: str) -> bool:
    manifest = bundle.manifest
    sealed = manifest.files.get(name) if manifest else None
    return bool(manifest and sealed and differs_by_line_ends(bundle.files[name], sealed, manifest.algorithm))


def report(bundle: Bundle, name: str, message: str) -> Report:
    return Report(name, bundle.files[name].source.line_span(0), message)


RULE = Rule("MX402", "edited-since-sealed", "warning", bundle=check)
