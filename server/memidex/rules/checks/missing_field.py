"""The frontmatter lacks a field that every record has.

Readers do not guess: without its kind, scope or origin a record is not judged, not believed and not served.

```flagged
-- record.md --
- evidenceIncomplete
```

```fixed
-- record.md --
```

```flagged
-- record.md --
- kind
```

```fixed
-- record.md --
```

```flagged
-- record.md --
- createdAtOrdinal
```

```fixed
-- record.md --
```

```clean
-- record.md --
createdAtOrdinal: 0
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.ids import kind_of
from memidex.records.memidex.read import Problem
from memidex.records.memidex.values import Provenance
from memidex.records.memidex.vocabulary import SCHEMA_VERSION
from memidex.rules.rule import Fix, Place, Rule, from_parser
from memidex.rules.text_fixes import add_field

ORIGIN_OF_WRITER = {"person": "user", "template": "agent-verified", "model": "agent-verified"}


def fixes(bundle: Bundle, file: str, problem: Problem) -> Iterator[Fix]:
    if isinstance(problem.at, Place) and len(problem.at.path) == 1:
        name = str(problem.value)
        value = worked_out(bundle, name)
        added = None if value is None else add_field(bundle, name, value)
        if added:
            yield Fix(f"Add {added.text.strip()}", (added,))


def worked_out(bundle: Bundle, name: str) -> Any:
    """What the field must be by the rest of the bundle; None where that cannot be told."""
    record = bundle.record
    provenance: Provenance = bundle.value("provenance.json") or Provenance()
    match name:
        case "schemaVersion":
            return SCHEMA_VERSION
        case "id":
            kind = kind_of(bundle.folder)
            return bundle.folder if kind and record.kind in ("", kind) else None
        case "kind":
            return kind_of(record.id) if record.id else kind_of(bundle.folder)
        case "evidenceIncomplete":
            return False
        case "createdAtOrdinal":
            first = min((event.ordinal for event in bundle.log.events), default=None)
            return first if provenance.ordinal is None else provenance.ordinal
        case "originClass":
            writer = provenance.writer.by if provenance.writer else None
            said: set[str] = {event.origin for event in bundle.log.events}
            if writer:
                said.add(ORIGIN_OF_WRITER[writer])
            return said.pop() if len(said) == 1 else None
        case _:
            return None


RULE = Rule("MX103", "missing-field", "error", bundle=from_parser("missing-field", fixes))
