"""Git left its conflict markers in a file.

Neither side is the record until somebody says which. Until then nothing else of the file is judged. A log is a list of
things that happened, on either side, so there both sides stay.

```flagged
-- record.md --
## Summary

<<<<<<< HEAD
^^^^^^^^^^^^
the cart opens
=======
the cart opens at once
>>>>>>> other

## Detail

Seen once.
```

```fixed
-- record.md --
## Summary

the cart opens

## Detail

Seen once.
```

```flagged
-- evidence/outcomes.jsonl + --
<<<<<<< HEAD
^^^^^^^^^^^^
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"x"}
=======
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed","id":"y"}
>>>>>>> other
```

```fixed
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"x"}
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed","id":"y"}
```

```clean
-- record.md --
## Summary

the page shows "<<<<<<< back"

## Detail

Seen once.
```
"""

from __future__ import annotations

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Problem
from memidex.rules.rule import Fix, Rule, from_parser
from memidex.rules.text_fixes import take_side


def fixes(bundle: Bundle, file: str, problem: Problem) -> list[Fix]:
    both = take_side(bundle, file, "both")
    if file == "evidence/outcomes.jsonl":
        return [Fix("Keep the events of both sides", (both,))]
    sides = [
        Fix("Take our side", (take_side(bundle, file, "ours"),), preferred=False),
        Fix("Take their side", (take_side(bundle, file, "theirs"),), preferred=False),
    ]
    if file.endswith(".jsonl"):
        return [Fix("Keep the lines of both sides", (both,)), *sides]
    return [*sides, Fix("Keep both sides", (both,), preferred=False)]


RULE = Rule("MX121", "conflict-markers", "error", bundle=from_parser("conflict-markers", fixes))
