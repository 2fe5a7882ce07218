"""What waits for a person's judgement, in order of risk: what misleads a run now comes before what may help one later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from memidex.history import trust as sums
from memidex.learning import gate
from memidex.learning.rivals import rivals
from memidex.learning.serving import was_confirmed_later
from memidex.store.snapshot import Entry, Root

PROPOSED, CONFLICTS = "proposed-supersession-of", "conflicts-with"

REASONS: Final[dict[str, str]] = {
    "conflict": "It and another active record are known to conflict, and runs are served either.",
    "rival": "Another active fact about the same thing claims something else, and runs are served either.",
    "proposal": "It would replace a record that runs are served now.",
    "fading": "Runs are served it, and nothing confirmed it for long.",
    "candidate": "It is served to no run until somebody accepts it.",
    "question": "Something was seen that nobody has explained.",
}
"""The closed list of reasons, the riskiest first, with what each means."""
RISK: Final = {name: number for number, name in enumerate(REASONS, 1)}


class Item(NamedTuple):
    """A record that waits, for its riskiest reason; it is in the queue once."""

    root: Root
    entry: Entry
    reason: str
    message: str
    """A sentence for people; what it names of other records is theirs, and not escaped."""
    reasons: tuple[str, ...]
    """All of its reasons, the riskiest first."""

    @property
    def risk(self) -> int:
        """From 1, the riskiest."""
        return RISK[self.reason]


def queue(roots: Iterable[Root], product: str | None = None) -> list[Item]:
    """What waits in these roots: by risk, of equal risk what is served with more trust first, then by id.

    One look at each entry, no file is read.
    """
    found: list[tuple[int, Fraction, str, str, Item]] = []
    for root in roots:
        for entry in root.entries.values():
            if product in (None, entry.product) and entry.judged and entry.standing.live:
                item = waiting(root, entry)
                if item:
                    trust = root.served_trust(entry)
                    found.append((item.risk, -trust, entry.id, entry.directory, item))
    found.sort(key=lambda row: row[:4])
    return [row[4] for row in found]


def waiting(root: Root, entry: Entry) -> Item | None:
    """The record with why it waits; None where it does not."""
    told = dict(reversed(list(reasons(root, entry))))
    if not told:
        return None
    names = tuple(sorted(told, key=RISK.__getitem__))
    return Item(root, entry, names[0], told[names[0]], names)


def reasons(root: Root, entry: Entry) -> Iterator[tuple[str, str]]:
    """Every reason with its sentence."""
    for other in conflicts(root, entry):
        yield "conflict", f"it and {other.id} conflict, and both are active"
    if entry.status == "active":
        for other in rivals(root, entry):
            yield "rival", f"{other.id}, another active fact about {entry.main}, claims something else"
    if is_proposal(entry):
        for name in entry.related(PROPOSED):
            target = root.find(name)
            yield "proposal", f"a proposal to replace {target.id if target else f'{name}, which is not there'}"
    since = fading_since(root, entry)
    if since is not None:
        before, now = sums.shown(entry.standing.trust), sums.shown(root.served_trust(entry))
        yield "fading", f"unconfirmed since build {since}: served with trust {now} instead of {before}"
    if waits(entry):
        held = gate.held(root, entry)
        yield "candidate", f"a candidate, held: {held}" if held else "a candidate that nothing holds"
    if is_question(entry):
        yield "question", f"an open question since build {entry.created}"


def conflicts(root: Root, entry: Entry) -> list[Entry]:
    """The active records that an active one says it conflicts with, in the order of its relations."""
    if entry.status != "active":
        return []
    return [
        other
        for other in root.targets(entry, CONFLICTS)
        if other.status == "active" and other.directory != entry.directory
    ]


def is_proposal(entry: Entry) -> bool:
    """Whether a candidate would replace another record."""
    return entry.status == "candidate" and bool(entry.kind) and any(entry.related(PROPOSED))


def waits(entry: Entry) -> bool:
    """Whether a candidate waits for somebody to accept or reject it.

    A procedure that a later run confirmed is served by its own matcher and waits for nobody, a policy that a person
    confirmed has been accepted, and a proposal and an unknown are told as what they are.
    """
    if entry.status != "candidate" or entry.kind in ("unknown", "") or any(entry.related(PROPOSED)):
        return False
    if entry.kind == "procedure":
        return not was_confirmed_later(entry, entry.standing)
    return not (entry.kind == "policy" and entry.standing.confirmed)


def is_question(entry: Entry) -> bool:
    """Whether it is an unknown that nobody has settled."""
    return entry.kind == "unknown" and entry.standing.live


def fading_since(root: Root, entry: Entry) -> int | None:
    """The ordinal since which nothing confirmed a record that runs are served; None where it does not fade."""
    state = entry.standing
    served = state.status == "active" or (
        entry.kind == "procedure" and state.live and was_confirmed_later(entry, state)
    )
    return None if not served or is_fresh(root, entry) else root.unconfirmed_since(entry)


def is_fresh(root: Root, entry: Entry) -> bool:
    """Surely confirmed within the newest runs of the ledger; asked first since it looks at one number."""
    runs = root.product(entry.product).runs
    limit = sums.RUNS_UNTIL_MEASUREMENT_FADED if entry.subtype == "measurement" else sums.RUNS_UNTIL_FADED
    last = entry.standing.last_confirmed
    return bool(runs) and (len(runs) < limit or (entry.created if last is None else last) >= runs[-limit])
