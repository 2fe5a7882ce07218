"""A path in the manifest or in the list of artifacts does not stay in the bundle.

Such a path is absolute, goes up by `..`, names a drive or is not written with `/`. A record that points outside of its
folder means another file on every machine, and a tool that follows it reads or seals what is none of its business.

```flagged
-- artifacts.index.json --
{"artifacts":[{"path":"../../secrets.env","kind":"screenshot"}]}
                      ^^^^^^^^^^^^^^^^^^^
```

```flagged
-- manifest.json --
{"files": {
  "C:\\\\keys.txt": "0000000000000000000000000000000000000000000000000000000000000000"
  ^^^^^^^^^^^^^^
}}
```

```clean
-- artifacts.index.json --
{"artifacts":[{"path":"artifacts/step-1.png","kind":"screenshot"}]}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle, leaves, plain
from memidex.rules.rule import Place, Report, Rule
from memidex.rules.sealed import listed
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    manifest = bundle.manifest
    if manifest:
        names = "\n".join(manifest.files)
        # One look at all names first: no healthy one has any of these.
        if ".." in names or ":" in names or "\\" in names or "\n/" in names or names[:1] == "/":
            for name in manifest.files:
                if leaves(name):
                    yield Report("manifest.json", listed(bundle, plain(name)) or Place(), message(name))
    artifacts = bundle.value("artifacts.index.json")
    for index, artifact in enumerate((artifacts.artifacts or ()) if artifacts else ()):
        if artifact.path is not None and leaves(artifact.path):
            yield Report("artifacts.index.json", Place(("artifacts", index, "path")), message(artifact.path))


def message(path: str) -> str:
    if "\\" in path and not leaves(plain(path)):
        return f'the path "{path}" is written with "\\"; "{plain(path)}" means the same on every system'
    return f'the path "{path}" leaves the bundle'


RULE = Rule("MX408", "path-leaves-bundle", "error", bundle=check)
