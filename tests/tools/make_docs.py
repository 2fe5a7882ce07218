"""The reference of all rules, made from their pages.

python tests/tools/make_docs.py     writes server/memidex/rules/RULES.md, which diagnostics link to
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memidex.rules import registry
from memidex.rules.rule import Rule

FILE = Path(__file__).resolve().parent.parent.parent / "server" / "memidex" / "rules" / "RULES.md"
GROUPS = {
    "MX1": "One record's text",
    "MX2": "Its log",
    "MX3": "Between records",
    "MX4": "Files of a bundle",
    "MX5": "Invitations to act",
    "MX6": "Stormbuffer stores",
    "MX9": "Ourselves",
}
HEAD = """\
# Rules

Generated from the pages in `server/memidex/rules/checks/` by `python tests/tools/make_docs.py`; the examples run as tests.
`memidex rule NAME` shows one page. A severity is changed, or a rule silenced with `off`, in `[tool.memidex.rules]` of
`pyproject.toml`; `<!-- memidex: allow NAME -->` in the body of a record silences it there.

In an example, `-- file --` names a file of a record that is healthy but for what follows, and `^^^` marks where the
rule reports.
"""


def reference(rules: Iterable[Rule] = registry.RULES) -> str:
    """The whole document."""
    ordered = sorted(rules, key=lambda rule: rule.code)
    parts = [HEAD]
    for beginning, title in GROUPS.items():
        group = [rule for rule in ordered if rule.code.startswith(beginning)]
        if group:
            rows = [
                f"| [{rule.code}](#{anchor(rule)}) | `{rule.name}` | {rule.severity} | {rule.sentence} |"
                for rule in group
            ]
            parts.append(
                "\n".join([f"**{title}**", "", "| code | rule | severity | |", "| --- | --- | --- | --- |", *rows, ""])
            )
    parts += [f"## {rule.code} {rule.name}\n\nSeverity: {rule.severity}.\n\n{rule.page}\n" for rule in ordered]
    return "\n".join(parts)


def anchor(rule: Rule) -> str:
    return f"{rule.code.lower()}-{rule.name}"


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8")
