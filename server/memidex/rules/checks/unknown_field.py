"""The frontmatter has a field that the format does not have.

The frontmatter holds the record's identity alone. A misspelt field is read by nobody, and the one that was meant is
missing.

```flagged
-- record.md --
- originClass
orignClass: "agent-verified"
^^^^^^^^^^
```

```fixed
-- record.md --
- originClass
originClass: "agent-verified"
```

```clean
-- record.md --
originClass: "agent-verified"
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import Problem
from memidex.records.memidex.vocabulary import FIELDS
from memidex.rules.nearest import nearest
from memidex.rules.rule import Fix, Rule, edit, from_parser
from memidex.rules.text_fixes import remove_field


def fixes(bundle: Bundle, file: str, problem: Problem) -> Iterator[Fix]:
    name = str(problem.value)
    present = bundle.files[file].layout.front.members
    meant = nearest(name, FIELDS)
    if meant and meant not in present:
        yield Fix(f"Change to {meant}", (edit(bundle, file, problem.at, meant),))
    removal = remove_field(bundle, name)
    if removal:
        yield Fix(f"Remove {name}", (removal,), preferred=not meant or meant in present)


RULE = Rule("MX102", "unknown-field", "warning", bundle=from_parser("unknown-field", fixes))
