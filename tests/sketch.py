"""Knowledge roots from a few lines of text, for the examples on the rules' pages and for tests.

A sketch names files and what is particular about them; everything else is a healthy record::

    -- record.md --                         a file of bundle `a`; other bundles: `-- b/record.md --`
    kind: "fct"                             replaces that line of the frontmatter, or adds it
          ^^^^^                             the place, in the line above, at which the rule reports
    - originClass                           takes a line of the frontmatter away
    ## Summary                              from the first heading on: the body as it is

    -- evidence/outcomes.jsonl + --         what follows is appended to the healthy file
    {"buildOrdinal":2,"origin":"user","type":"confirmed"}

    -- b/record.md --                       a second bundle, healthy but for this
    -- runs.jsonl --                        the product's ledger; `policies.md` likewise
    -- relations.json (absent) --           no such file
    -- record.md (whole) --                 the text as it is, not a patch
    -- record.md (bytes) --                 the same, with Python's escapes such as \\xff
    -- extra.txt (link: ../../x) --         a symbolic link
    -- record.md (folder) --                a folder where a file belongs
    -- record.md (size: 9000000) --         a file of that many bytes, all zero

`@a` stands for the id of bundle `a`; in `manifest.json`, `@hash(record.md)` and `@size(record.md)` for what they say.
A file that is not named is healthy: a sealed manifest over what the sketch gives, a log with one confirmation and, for
a fact or a caution, its promotion, and a ledger of runs 1 to 3.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

HEADER = re.compile(
    r"^-- (?:(?!evidence/|artifacts/)(?P<nick>[a-z][a-z0-9]*)/)?(?P<name>(?:evidence/|artifacts/)?[^ /]+)(?: (?P<how>\+|\(.*\)))? --$"
)
CARETS = re.compile(r"^( *)(\^+) *$")
PRODUCT = "shop"
PRODUCT_FILES = ("runs.jsonl", "policies.md")
KINDS = ("fact", "caution", "procedure", "unknown", "policy")
ACTIONS = '```json\n{"parameters":[],"actions":[{"action":"click","anchor":{"t":"el","role":"button","name":"buy","ordinal":0},"value":null}]}\n```'


def record_id(nick: str, kind: str = "fact") -> str:
    return f"{kind}-el-button-{nick}-{hashlib.sha256(nick.encode()).hexdigest()[:16]}"


@dataclass
class Part:
    """One file of a sketch."""

    name: str
    how: str = ""
    lines: list[str] = field(default_factory=list)
    carets: list[tuple[int, int, int]] = field(default_factory=list)
    """(index in `lines`, first column, column after) of each mark."""


@dataclass
class Sketch:
    """A root on disk, and where in it the rule should report."""

    root: Path
    marks: list[tuple[str, int, int, int]]
    """(path, line from 0, first column, column after)."""
    ids: dict[str, str]

    def path(self, name: str, nick: str = "a") -> Path:
        if name in PRODUCT_FILES:
            return self.root / "memory" / PRODUCT / name if name == "runs.jsonl" else self.root / name
        return self.root / "memory" / PRODUCT / "bundles" / self.ids[nick] / name


def parts(text: str) -> dict[tuple[str, str], Part]:
    found: dict[tuple[str, str], Part] = {}
    part: Part | None = None
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            name = header["name"]
            nick = header["nick"] or ("" if name in PRODUCT_FILES else "a")
            part = found.setdefault((nick, name), Part(name, header["how"] or ""))
        elif part is None:
            raise ValueError(f"a sketch starts with a file: {line!r}")
        elif (mark := CARETS.match(line)) and part.lines:
            part.carets.append((len(part.lines) - 1, mark.start(2), mark.end(2)))
        else:
            part.lines.append(line)
    return found


def sketch(text: str, folder: Path) -> Sketch:
    """The root of a sketch, written below `folder`."""
    given = parts(text)
    nicks = sorted({nick for nick, _ in given if nick} | {"a"})
    kinds = {nick: kind_of(given.get((nick, "record.md"))) for nick in nicks}
    result = Sketch(folder / "agent-qa-knowledge", [], {nick: record_id(nick, kinds[nick]) for nick in nicks})
    for nick in nicks:
        write_bundle(result, nick, kinds[nick], {name: part for (owner, name), part in given.items() if owner == nick})
    ledger = given.get(("", "runs.jsonl")) or Part(
        "runs.jsonl", lines=[f'{{"ordinal":{n},"run":"run-{n}"}}' for n in (1, 2, 3)]
    )
    write(result, result.path("runs.jsonl"), ledger, "")
    if ("", "policies.md") in given:
        write(result, result.path("policies.md"), given["", "policies.md"], "")
    return result


def kind_of(part: Part | None) -> str:
    match = re.search(r'^kind: "?([a-z]+)"?$', "\n".join(part.lines), re.MULTILINE) if part else None
    return match.group(1) if match and match.group(1) in KINDS else "fact"


def write_bundle(result: Sketch, nick: str, kind: str, given: dict[str, Part]) -> None:
    confirmed = (
        f'{{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"{nick}-1","at":"2026-01-01T00:00:00Z"}}'
    )
    promoted = f'{{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"{nick}-2","at":"2026-01-01T00:00:01Z"}}'
    healthy = {
        "record.md": healthy_record(nick, kind),
        "evidence/outcomes.jsonl": [confirmed, promoted] if kind in ("fact", "caution") else [confirmed],
        "provenance.json": [
            '{"run":"run-1","buildOrdinal":1,"mode":"local","test":"buys","step":1,"writer":{"by":"template","name":"t"},"at":"2026-01-01T00:00:00Z"}'
        ],
        "observations.jsonl": ['{"id":"o1","kind":"element","run":"run-1","test":"buys","step":1}'],
        "relations.json": ['{"relations":[]}'],
        "evidence/evidence.md": ["# Evidence", "", "- step 1 matched once"],
    }
    for name, lines in healthy.items():
        part = given.get(name, Part(name, lines=lines))
        if name == "record.md" and part.how == "":
            part = patched(part, lines)
        elif part.how == "+":
            shift = len(lines)
            part = Part(
                name, "", lines + part.lines, [(index + shift, first, after) for index, first, after in part.carets]
            )
        write(result, result.path(name, nick), part, nick)
    for name, part in given.items():
        if name not in healthy and name != "manifest.json":
            write(result, result.path(name, nick), part, nick)
    write(
        result,
        result.path("manifest.json", nick),
        given.get("manifest.json", sealed(result.path("record.md", nick).parent)),
        nick,
    )


def healthy_record(nick: str, kind: str) -> list[str]:
    element = f'{{"t":"el","role":"button","name":"{nick}","ordinal":0}}'
    return [
        "---",
        "schemaVersion: 2",
        f'id: "{record_id(nick, kind)}"',
        f'kind: "{kind}"',
        *(['subtype: "behavioral"'] if kind == "fact" else []),
        f'anchors: [{{"raw":{element},"normalized":{element}}},{{"raw":{{"t":"platform","platform":"web"}},"normalized":{{"t":"platform","platform":"web"}}}}]',
        f'scope: {{"tier":"product","key":"{PRODUCT}"}}',
        "createdAtOrdinal: 1",
        'originClass: "agent-verified"',
        "evidenceIncomplete: false",
        "---",
        "",
        "## Summary",
        "",
        f'button "{nick}" resolved as a verified element',
        "",
        "## Detail",
        "",
        "Seen in the recorded screen state.",
        *(["", *ACTIONS.split("\n")] if kind == "procedure" else []),
    ]


def patched(part: Part, healthy: list[str]) -> Part:
    """A healthy record with the lines of a patch in it, and the patch's marks moved with them."""
    closing = healthy.index("---", 1)
    front, body = healthy[1:closing], healthy[closing:]
    heading = next((index for index, line in enumerate(part.lines) if line.startswith("#")), len(part.lines))
    placed: dict[int, int] = {}
    for index, line in enumerate(part.lines[:heading]):
        if line.startswith("- "):
            front = [old for old in front if not old.startswith(line[2:] + ":")]
        elif line.strip():
            name = line.split(":")[0]
            seen = [at for at, old in enumerate(front) if old.startswith(name + ":")]
            repeated = any(earlier.startswith(name + ":") for earlier in part.lines[:index])
            if seen and not repeated:
                front[seen[0]] = line
                placed[index] = seen[0] + 1
            else:
                front.append(line)
                placed[index] = len(front)
    if heading < len(part.lines):
        body = ["---", "", *part.lines[heading:]]
    lines = ["---", *front, *body]
    start = len(front) + 1
    for index in range(heading, len(part.lines)):
        placed[index] = start + 2 + index - heading
    return Part(part.name, "", lines, [(placed[index], first, after) for index, first, after in part.carets])


def sealed(folder: Path) -> Part:
    files = {
        path.relative_to(folder).as_posix(): {
            "hash": hashlib.sha256(path.read_bytes()).hexdigest(),
            "size": path.stat().st_size,
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and "artifacts/" not in path.relative_to(folder).as_posix()
    }
    return Part("manifest.json", lines=[json.dumps({"schemaVersion": 2, "algorithm": "sha256", "files": files})])


def write(result: Sketch, path: Path, part: Part, nick: str) -> None:
    def filled(text: str) -> str:
        text = re.sub(r"@([a-z][a-z0-9]*)(?![\w(])", lambda match: result.ids.get(match.group(1), match.group()), text)
        return re.sub(
            r"@(hash|size)\(([^)]+)\)", lambda match: measured(path.parent / match.group(2), match.group(1)), text
        )

    path.parent.mkdir(parents=True, exist_ok=True)
    if part.how == "(absent)":
        return
    if part.how == "(folder)":
        path.mkdir()
        return
    if part.how.startswith("(size:"):
        path.write_bytes(bytes(int(part.how[6:-1])))
        return
    if part.how.startswith("(link:"):
        path.symlink_to(filled(part.how[6:-1].strip()))
        return
    text = "".join(filled(line) + "\n" for line in part.lines)
    path.write_bytes(
        text.encode().decode("unicode_escape").encode("latin-1") if part.how == "(bytes)" else text.encode()
    )
    for index, first, after in part.carets:
        line = part.lines[index]
        result.marks.append((path.as_posix(), index, len(filled(line[:first])), len(filled(line[:after]))))


def measured(path: Path, what: str) -> str:
    data = path.read_bytes()
    return hashlib.sha256(data).hexdigest() if what == "hash" else str(len(data))
