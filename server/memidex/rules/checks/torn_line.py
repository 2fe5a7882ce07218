r"""The last line of the outcome log was cut short while it was written.

A crash or a full disk leaves half an event. It counts for nothing, and the next append puts the end of the line back, so
that what is appended is not swallowed by it.

```flagged
-- evidence/outcomes.jsonl (bytes) --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":2,"ori\
^^^^^^^^^^^^^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl (bytes) --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}\
```
"""

from memidex.rules.log_events import from_log
from memidex.rules.rule import Rule

RULE = Rule("MX204", "torn-line", "warning", bundle=from_log("torn-line"))
