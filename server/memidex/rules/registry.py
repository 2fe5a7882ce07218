"""Every rule, in the order of the codes; written by hand, since the order is part of what people read."""

from __future__ import annotations

from memidex.rules.checks import (
    agent_overturned,
    agent_retired_active,
    bad_event_field,
    bad_json,
    bad_value,
    edited_since_sealed,
    event_before_creation,
    event_from_the_future,
    event_not_allowed,
    file_too_large,
    kind_cannot_be_active,
    left_over_temporary,
    link_leaves_root,
    listed_file_missing,
    log_rewritten,
    missing_file,
    path_leaves_bundle,
    promoted_without_evidence,
    repeated_event,
    retracts_nothing,
    rule_crashed,
    stored_derived_field,
    torn_line,
    unclear_retraction,
    unknown_event_type,
    unknown_value,
    unlisted_file,
    unreadable_event,
    unreadable_file,
    unsupported_version,
)
from memidex.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    unknown_value.RULE,
    stored_derived_field.RULE,
    unsupported_version.RULE,
    unreadable_event.RULE,
    unknown_event_type.RULE,
    bad_event_field.RULE,
    torn_line.RULE,
    repeated_event.RULE,
    retracts_nothing.RULE,
    event_not_allowed.RULE,
    kind_cannot_be_active.RULE,
    promoted_without_evidence.RULE,
    event_before_creation.RULE,
    event_from_the_future.RULE,
    agent_overturned.RULE,
    agent_retired_active.RULE,
    unclear_retraction.RULE,
    missing_file.RULE,
    edited_since_sealed.RULE,
    log_rewritten.RULE,
    unlisted_file.RULE,
    listed_file_missing.RULE,
    bad_json.RULE,
    bad_value.RULE,
    path_leaves_bundle.RULE,
    link_leaves_root.RULE,
    left_over_temporary.RULE,
    file_too_large.RULE,
    unreadable_file.RULE,
    rule_crashed.RULE,
)
STORE_RULES: tuple[Rule, ...] = tuple(rule for rule in RULES if rule.store)
BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES}
BY_CODE: dict[str, Rule] = {rule.code: rule for rule in RULES}


def find(text: str) -> Rule | None:
    """The rule of a name or a code, in any case."""
    return BY_NAME.get(text.lower()) or BY_CODE.get(text.upper())
