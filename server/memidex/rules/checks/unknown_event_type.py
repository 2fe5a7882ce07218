"""An event of the outcome log has a type that the format does not have.

It counts for nothing and is kept as it is: it may come from a newer writer.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"verified"}
                                                   ^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
```
"""

from memidex.rules.log_events import from_log
from memidex.rules.rule import Rule

RULE = Rule("MX202", "unknown-event-type", "warning", bundle=from_log("unknown-event-type"))
