"""The body lacks `## Summary` or `## Detail`.

The summary is the claim, which is part of the record's identity; the detail says how it was seen.

```flagged
-- record.md --
## Summary

the cart opens
```

```fixed
-- record.md --
## Summary

the cart opens

## Detail
```

```flagged
-- record.md --
## Detail

Seen once.
```

```fixed
-- record.md --
## Summary

## Detail

Seen once.
```

```clean
-- record.md --
## Summary

the cart opens

## Detail

Seen once.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Problem
from memidex.rules.rule import Fix, Rule, from_parser
from memidex.rules.text_fixes import add_section


def fixes(bundle: Bundle, file: str, problem: Problem) -> Iterator[Fix]:
    added = add_section(bundle, str(problem.value))
    if added:
        yield Fix(f"Add ## {problem.value}", (added,))


RULE = Rule("MX116", "missing-section", "error", bundle=from_parser("missing-section", fixes))
