"""Every rule, in the order of the codes; written by hand, since the order is part of what people read."""

from __future__ import annotations

from memidex.rules.checks import (
    rule_crashed,
    stored_derived_field,
    unknown_value,
    unsupported_version,
)
from memidex.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    unknown_value.RULE,
    stored_derived_field.RULE,
    unsupported_version.RULE,
    rule_crashed.RULE,
)
STORE_RULES: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.store)
BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES}
BY_CODE: dict[str, Rule] = {rule.code: rule for rule in RULES}


def find(text: str) -> Rule | None:
    """The rule of a name or a code, in any case."""
    return BY_NAME.get(text.lower()) or BY_CODE.get(text.upper())
