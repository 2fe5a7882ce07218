"""A procedure, an unknown or a policy was promoted, which only a fact or a caution can be.

The promotion has no effect. A procedure is served by its own matcher, an unknown is never served, and an accepted policy is
served from `policies.md`.

```flagged
-- record.md --
kind: "procedure"
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"promoted","path":"user-sovereign","id":"p1"}
                                         ^^^^^^^^^^
```

```clean
-- record.md --
kind: "procedure"
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"p1"}
```

```clean
-- record.md --
kind: "caution"
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.vocabulary import PROMOTABLE_KINDS
from memidex.rules.log_events import LOG, at, counting
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    kind = bundle.record.kind
    # A record of no known kind is reported for that.
    if kind in PROMOTABLE_KINDS or not kind:
        return ()
    return promotions(bundle, kind)


def promotions(bundle: Bundle, kind: str) -> Iterator[Report]:
    for line, event in counting(bundle.log):
        if event.type == "promoted":
            article = "an" if kind == "unknown" else "a"
            yield Report(
                LOG,
                at(line, "type"),
                f"`promoted` has no effect: {article} {kind} cannot become active, only a fact or a caution can",
            )


RULE = Rule("MX208", "kind-cannot-be-active", "error", bundle=check)
