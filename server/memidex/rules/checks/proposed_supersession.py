"""A proposal: this candidate would replace another record, which stays as it is until a person decides.

CI never changes what is there; what it learned stands beside it. Apply the proposal, and the other record is
superseded by this one; reject it, and the other stays untouched.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed"}
-- relations.json --
{"relations":[{"type":"proposed-supersession-of","target":"@b"}]}
-- b/record.md --
createdAtOrdinal: 1
```

```clean
-- relations.json --
{"relations":[]}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.learning.review import is_proposal
from memidex.rules.rule import Place, Related, Report, Rule
from memidex.store.snapshot import Entry, Root

ID = Place(("id",))


def check(root: Root, entry: Entry) -> Iterator[Report]:
    if not is_proposal(entry):
        return
    for target in entry.related("proposed-supersession-of"):
        other = root.find(target)
        if other is None:
            yield Report("record.md", ID, f"a proposal to replace {target}, which is not there")
        else:
            state = "" if other.status == "active" else f", which is {other.status}"
            related = (Related(other.directory, "record.md", ID, f"it would replace this one: {other.title}"),)
            yield Report("record.md", ID, f"a proposal to replace {other.id}{state}", related=related)


RULE = Rule("MX502", "proposed-supersession", "info", store=check)
