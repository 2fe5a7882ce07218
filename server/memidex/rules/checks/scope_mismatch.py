"""The scope's key does not fit: it is missing or not wanted, or names another product than the folder.

A record is served to the runs its scope names. With a wrong key it is served to none, or to those of another product.

```flagged
-- record.md --
scope: {"tier":"product","key":"komazon"}
                               ^^^^^^^^^
```

```flagged
-- record.md --
scope: {"tier":"suite"}
       ^^^^^^^^^^^^^^^^
```

```flagged
-- record.md --
scope: {"tier":"global","key":"shop"}
                              ^^^^^^
```

```clean
-- record.md --
scope: {"tier":"suite","key":"checkout"}
```

```clean
-- record.md --
scope: {"tier":"global"}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    scope = bundle.record.scope
    if scope is None or (scope.tier == "product" and scope.key == bundle.product):
        return
    if scope.tier == "global":
        if scope.key is not None:
            yield Report(
                "record.md",
                Place(("scope", "key")),
                "a global scope has no key; remove it, or give the tier that the key belongs to",
            )
    elif not scope.key:
        what = (
            f'the product\'s folder is "{bundle.product}"'
            if scope.tier == "product"
            else f"a {scope.tier} scope names its {scope.tier}"
        )
        yield Report("record.md", Place(("scope", "key")), f"the scope has no key; {what}")
    elif scope.tier == "product":
        yield Report(
            "record.md",
            Place(("scope", "key")),
            f'the scope\'s key is "{scope.key[:60]}", but the record lies in the folder of the product "{bundle.product}"',
        )


RULE = Rule("MX115", "scope-mismatch", "error", bundle=check)
