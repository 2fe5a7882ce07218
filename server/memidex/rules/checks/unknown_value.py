"""A field has a value that is none of the format's words.

Readers match these words exactly, so a record with another word is of no kind, or of no scope, and is not served.

```flagged
-- record.md --
kind: "fct"
      ^^^^^
```

```fixed
-- record.md --
kind: "fact"
```

```clean
-- record.md --
kind: "fact"
subtype: "behavioral"
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Problem
from memidex.records.memidex.vocabulary import ANCHORS, KINDS, ORIGINS, PLATFORMS, SUBTYPES, TIERS
from memidex.rules.nearest import nearest
from memidex.rules.rule import Fix, Place, Rule, edit, from_parser

WORDS = {"kind": KINDS, "subtype": SUBTYPES, "tier": TIERS, "originClass": ORIGINS, "platform": PLATFORMS, "t": ANCHORS}


def fixes(bundle: Bundle, file: str, problem: Problem) -> Iterator[Fix]:
    field = problem.at.path[-1] if isinstance(problem.at, Place) else ""
    meant = nearest(problem.value, WORDS.get(str(field), ()))
    if meant:
        yield Fix(f"Change to {meant}", (edit(bundle, file, problem.at, f'"{meant}"'),))


RULE = Rule("MX105", "unknown-value", "error", bundle=from_parser("unknown-value", fixes))
