"""Where a change is decided and written, for both front doors: decide, write, and where another writer was faster again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from memidex.history.change import Actor, Change, Policy, Refused
from memidex.learning.decide import Accepted, decide
from memidex.records.memidex import ids
from memidex.store import opening, writing
from memidex.store.commit import Commit
from memidex.store.snapshot import Entry, Root

TRIES: Final = 3
"""How often a decision is taken anew when another writer was faster; nobody looked at the record in between."""
CI: Final = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION")  # fmt: skip
NAMES: Final = ("MEMIDEX_ACTOR", "USER", "LOGNAME", "USERNAME")


class Outcome(Struct, frozen=True):
    """What a change came to. Where it is `Accepted` it is on the disk, unless it was only a rehearsal."""

    answer: Accepted | Refused
    root: Root
    """The root afterwards."""
    before: Entry | None = None
    """The record as it was when it was decided upon."""
    unsealed: tuple[str, ...] = ()
    """Places whose manifest could not be sealed."""


def ask(
    root: Root,
    change: Change,
    actor: Actor,
    policy: Policy,
    *,
    rehearsal: bool = False,
    allowed: Callable[[Root, Commit], Refused | None] = lambda _root, _commit: None,
    again: Callable[[Root, Iterable[str]], Root] = opening.refreshed,
) -> Outcome:
    """Decide a change upon the root and write it; `allowed` may refuse what it comes to before anything is written.

    Where a log moved that nobody had looked at (no `seen`), it is read again and decided anew. A rehearsal writes nothing.
    `again` gives the root after folders were read again. Raises `OSError` where the disk fails.
    """
    for _ in range(TRIES):
        before = root.find(change.record)
        ordinal = root.product(before.product).current if before else 0
        answer = decide(root, change, actor, policy, ordinal, datetime.now(UTC), new_id)
        if not isinstance(answer, Accepted):
            return Outcome(Refused(answer.reason, answer.message), root, before)
        refused = allowed(root, answer.commit)
        if refused or rehearsal:
            return Outcome(refused or answer, root, before)
        written = writing.commit(root.path, answer.commit, f"memidex {change.operation}")
        root = again(root, folders(root.path, answer.commit))
        if isinstance(written, writing.Written):
            return Outcome(answer, root, before, written.unsealed)
        if written.reason != "stale" or change.seen is not None:
            return Outcome(written, root, before)
    return Outcome(Refused("stale", f"{change.record} keeps changing while it is decided upon"), root)


def folders(root: str, commit: Commit) -> list[str]:
    """The folders of the bundles that a commit is about."""
    return [f"{root}/{item.place}" for item in (*commit.parts, *commit.births, *commit.removals)]


def who(environment: Mapping[str, str]) -> str | None:
    """The name that stands beside a person's events."""
    return next((environment[name] for name in NAMES if environment.get(name)), None)


def in_ci(environment: Mapping[str, str]) -> bool:
    return any(environment.get(name, "").lower() not in ("", "0", "false") for name in CI)


def new_id() -> str:
    return ids.uuid7(time.time_ns() // 1_000_000, os.urandom(10))
