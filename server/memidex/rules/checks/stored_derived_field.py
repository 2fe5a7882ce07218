"""The frontmatter stores what is worked out from the log: trust, status, a counter or the validity.

A stored copy goes stale with the next event, and two readers then believe two things. Nothing reads it; remove it.

```flagged
-- record.md --
status: "active"
^^^^^^
```

```fixed
-- record.md --
```

```clean
-- record.md --
evidenceIncomplete: false
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Problem
from memidex.rules.rule import Fix, Rule, from_parser
from memidex.rules.text_fixes import remove_field


def fixes(bundle: Bundle, file: str, problem: Problem) -> Iterator[Fix]:
    removal = remove_field(bundle, str(problem.value))
    if removal:
        yield Fix(f"Remove {problem.value}", (removal,), safe=True)


RULE = Rule("MX106", "stored-derived-field", "error", bundle=from_parser("stored-derived-field", fixes))
