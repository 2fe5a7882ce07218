"""A candidate waits for someone to accept or reject it; the gate's reason for holding it is told.

A candidate is served to no run. The reason is the gate's last decision, where it left one, else what the store tells.
A procedure that a later run confirmed is served by its own matcher and waits for nobody, a policy that a person
confirmed has been accepted, a proposal is reported as one, and an unknown as an open question.

```flagged
-- record.md --
id: "@a"
    ^^^^
evidenceIncomplete: true
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed"}
```

```clean
-- record.md --
evidenceIncomplete: false
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.learning import gate
from memidex.learning.review import waits
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterator[Report]:
    if not waits(entry):
        return
    bundle = root.bundle(entry)
    if bundle is None or "evidence/outcomes.jsonl" not in bundle.files:
        return  # without its log nothing is known of its status
    reason = gate.last_decision(root, entry, bundle)
    if reason is None:
        message = "a candidate that waits for review; nothing holds it, so the next local run may promote it"
    else:
        why = gate.REASONS.get(reason)
        message = f"a candidate that waits for review, held: {reason}" + (f" ({why})" if why else "")
    since = root.unconfirmed_since(entry)
    yield Report(
        "record.md", Place(("id",)), message if since is None else f"{message}; unconfirmed since build {since}"
    )


RULE = Rule("MX501", "awaiting-review", "hint", store=check)
