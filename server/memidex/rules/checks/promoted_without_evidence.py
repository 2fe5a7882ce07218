"""A record was promoted though no confirmation that counts had come by that build.

The gate asks for confirmed evidence, and so does a person who confirms: each promotion stands beside a `confirmed` of the
same build or an earlier one. Without it the record is served on nobody's word, or its only confirmation was taken back.

```flagged
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"e1"}
                                                   ^^^^^^^^^^
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"e2"}
```

```flagged
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"e1"}
{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"e2"}
                                                   ^^^^^^^^^^
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["e1"],"id":"e3"}
```

```clean
-- evidence/outcomes.jsonl --
{"buildOrdinal":2,"origin":"user","type":"promoted","path":"user-sovereign","id":"e1","at":"2026-01-01T00:00:00Z"}
{"buildOrdinal":2,"origin":"user","type":"confirmed","id":"e2","at":"2026-01-01T00:00:01Z"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at, steps
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    confirmed = promoted = None
    plain = True
    for event in bundle.log.events:
        kind = event.type
        if kind == "confirmed":
            if confirmed is None or event.ordinal < confirmed:
                confirmed = event.ordinal
        elif kind == "promoted":
            promoted = event.ordinal if promoted is None else min(promoted, event.ordinal)
        elif kind == "retracted" or kind == "overturned":
            plain = False
    if promoted is None or (plain and confirmed is not None and confirmed <= promoted):
        return ()
    return unfounded(bundle)


def unfounded(bundle: Bundle) -> Iterator[Report]:
    told = [step for _, step in steps(bundle)]
    for step in told:
        if step.event.type == "promoted" and step.effective:
            by_then = [
                other for other in told if other.event.type == "confirmed" and other.event.ordinal <= step.event.ordinal
            ]
            if not by_then:
                message = f"promoted at build {step.event.ordinal}, and no confirmation that counts had come by then"
                yield Report(LOG, at(step.line, "type"), message)


RULE = Rule("MX209", "promoted-without-evidence", "warning", bundle=check)
