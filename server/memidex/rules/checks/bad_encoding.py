"""A file is not UTF-8 text, or holds a NUL byte.

Every file of a bundle is UTF-8. Others read such a file differently or not at all, and its hash is all that two readers
agree on. Nothing is changed by itself, since the text that was meant cannot be known.

```flagged
-- evidence/evidence.md (bytes) --
# Evidence\\n\\n- caf\\xe9 matched once
```

```flagged
-- evidence/evidence.md (bytes) --
# Evidence\\n\\n- step 1\\x00 matched once
```

```clean
-- evidence/evidence.md --
# Evidence

- café matched once
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root
from memidex.text import Span, decode

UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name, file in bundle.files.items():
        data = file.data
        if data.isascii():
            if b"\0" not in data:
                continue
            at = file.source.string.find("\0")
            yield Report(name, Span(at, at + 1), "a NUL byte, which no text has; remove it")
            continue
        _, wrong = decode(data)
        nul = file.source.string.find("\0") if b"\0" in data else -1
        if wrong is not None and not 0 <= nul < wrong:
            byte = ord(file.source.string[wrong]) - 0xDC00
            message = (
                "the file is UTF-16; save it as UTF-8"
                if data[:2] in UTF_16
                else f"byte 0x{byte:02X} is not UTF-8 here; save the file as UTF-8"
            )
            yield Report(name, Span(wrong, wrong + 1), message)
        elif nul >= 0:
            yield Report(name, Span(nul, nul + 1), "a NUL byte, which no text has; remove it")


RULE = Rule("MX122", "bad-encoding", "error", bundle=check)
