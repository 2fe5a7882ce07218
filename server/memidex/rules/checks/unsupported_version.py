"""The record is of a version of the format that is not understood.

Reading it by the rules of another version would find faults that are none, so nothing else of the record is judged.

```flagged
-- record.md --
schemaVersion: 3
               ^
kind: "fct"
```

```clean
-- record.md --
schemaVersion: 2
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX107", "unsupported-version", "error", bundle=from_parser("unsupported-version"))
