"""A line of the outcome log is not a JSON object.

The line counts for nothing, so trust and status are worked out without it; the other lines still count.

```flagged
-- evidence/outcomes.jsonl + --
["confirmed"]
^^^^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
```
"""

from memidex.rules.log_events import from_log
from memidex.rules.rule import Rule

RULE = Rule("MX201", "unreadable-event", "error", bundle=from_log("unreadable-event"))
