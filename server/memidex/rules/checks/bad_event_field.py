"""A field of an event is missing, or has a wrong type or value.

An event that lacks its build, its origin or its type counts for nothing; of any other only the field does not count.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":"2","origin":"agent-verified","type":"confirmed"}
                ^^^
```

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"type":"confirmed"}
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","at":"2026-01-02T00:00:00Z","colour":"red"}
```
"""

from memidex.rules.log_events import from_log
from memidex.rules.rule import Rule

RULE = Rule("MX203", "bad-event-field", "error", bundle=from_log("bad-event-field"))
