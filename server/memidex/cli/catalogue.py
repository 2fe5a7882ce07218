"""`memidex rules` and `memidex rule NAME`: what is checked, and why."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from memidex import config
from memidex.cli import roots
from memidex.cli.console import DONE, REFUSED, Console, Failed, Parser, cut
from memidex.rules import registry
from memidex.rules.rule import Rule


def rules_arguments(parser: Parser) -> None:
    roots.json_argument(parser)
    roots.arguments(parser)


def rules(options: Namespace, console: Console) -> int:
    if options.format == "json":
        console.json({"version": 1, "rules": [row(rule) for rule in registry.RULES]})
        return DONE
    widest = max(len(rule.name) for rule in registry.RULES)
    for rule in registry.RULES:
        fixable = "fix" if row(rule)["fixable"] else "   "
        start = f"{rule.code}  {rule.name:<{widest}}  {rule.severity:<7}  {fixable}  "
        sentence = cut(rule.sentence, max(console.width - len(start), 20)) if console.width else rule.sentence
        console.print(
            start.replace(f"  {rule.severity}", "  " + console.painted(rule.severity, rule.severity), 1) + sentence
        )
    return DONE


def rule_arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="a rule's name or its code")
    roots.json_argument(parser)
    roots.arguments(parser)


def rule(options: Namespace, console: Console) -> int:
    found = registry.find(options.name)
    if found is None:
        raise Failed(config.unknown(options.name), REFUSED)
    if options.format == "json":
        console.json({**row(found), "page": found.page})
    else:
        console.print(f"# {found.code} {found.name}\n\nSeverity: {found.severity}\n\n{found.page}")
    return DONE


def row(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "sentence": rule.sentence,
        "fixable": bool(rule.examples("fixed")),
    }
