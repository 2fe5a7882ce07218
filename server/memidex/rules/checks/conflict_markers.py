"""Git left its conflict markers in a file.

Neither side is the record until somebody says which. Until then nothing else of the file is judged. A log is a list of
things that happened, on either side, so there both sides stay. Relations stay that either side has and the other did not
take away, and the manifest seals what the files become; all files of a record are merged at once. `memidex git-setup`
makes git do the same by itself, where it merges on this machine.

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

```flagged
-- relations.json (whole) --
{"relations":[
<<<<<<< HEAD
^^^^^^^^^^^^
{"type":"relates-to","target":"@b"}
||||||| base
{"type":"equivalent-to","target":"@a"}
=======
{"type":"equivalent-to","target":"@a"},
{"type":"derived-from","target":"@b"}
>>>>>>> other
]}
-- b/record.md --
```

```fixed
-- relations.json (whole) --
{"relations":[
{"type":"relates-to","target":"@b"},
{"type":"derived-from","target":"@b"}
]}
-- b/record.md --
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

from memidex.records.memidex import merge
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Problem
from memidex.rules.rule import Fix, Rule, from_parser
from memidex.rules.text_fixes import rewrite, take_side
from memidex.text import decode

WORDS = {"evidence/outcomes.jsonl": "events", "relations.json": "relations", "manifest.json": "seals"}


def fixes(bundle: Bundle, file: str, problem: Problem) -> list[Fix]:
    sides = [
        Fix("Take our side", (take_side(bundle, file, "ours"),), preferred=False),
        Fix("Take their side", (take_side(bundle, file, "theirs"),), preferred=False),
    ]
    files = {name: held.data for name, held in bundle.files.items()}
    settled = merge.settled(files)
    if file in settled:
        # All of the record's files at once: its manifest seals what the others become.
        edits = tuple(rewrite(bundle, name, decode(data)[0]) for name, data in settled.items())
        certain = all(merge.is_certain(name, files[name]) for name in settled)
        title = (
            f"Keep the {WORDS.get(file, 'lines')} of both sides"
            if len(edits) == 1
            else "Merge both sides of the record"
        )
        both = Fix(title, edits, preferred=certain)
        return [both] if file in merge.LINES else [both, *sides]
    both = take_side(bundle, file, "both")
    if file == merge.LOG:
        return [Fix("Keep the events of both sides", (both,))]
    if file.endswith(".jsonl"):
        return [Fix("Keep the lines of both sides", (both,)), *sides]
    return [*sides, Fix("Keep both sides", (both,), preferred=False)]


RULE = Rule("MX121", "conflict-markers", "error", bundle=from_parser("conflict-markers", fixes))
