"""What waits for a person's judgement, in order of risk: what misleads a run now comes before what may help one later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from memidex.history import trust as sums
from memidex.learning import gate
from memidex.learning.rivals import contested, rivals
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
    reasons: tuple[str, ...]
    """All of its reasons, the riskiest first."""

    @property
    def reason(self) -> str:
        return self.reasons[0]

    @property
    def risk(self) -> int:
        """From 1, the riskiest."""
        return RISK[self.reason]

    @property
    def message(self) -> str:
        """Why it waits, as a sentence; what it names of other records is theirs, and not escaped."""
        return message(self.root, self.entry, self.reason)


def queue(roots: Iterable[Root], product: str | None = None) -> list[Item]:
    """What waits in these roots: by risk, of equal risk what is served with more trust first, then by id.

    One look at each entry, no file is read.
    """
    found: list[tuple[int, Fraction, str, str, Item]] = []
    for root in roots:
        rivalled = contested(root)
        for entry in root.entries.values():
            if product in (None, entry.product) and entry.judged and entry.standing.live:
                told = tuple(reasons(root, entry, entry.directory in rivalled))
                if told:
                    trust = root.served_trust(entry)
                    found.append((RISK[told[0]], -trust, entry.id, entry.directory, Item(root, entry, told)))
    found.sort(key=lambda row: row[:4])
    return [row[4] for row in found]


def reasons(root: Root, entry: Entry, rivalled: bool) -> Iterator[str]:
    """Every reason for which a record waits, the riskiest first."""
    if conflicts(root, entry):
        yield "conflict"
    if rivalled:
        yield "rival"
    if is_proposal(entry):
        yield "proposal"
    if fading_since(root, entry) is not None:
        yield "fading"
    if waits(entry):
        yield "candidate"
    if is_question(entry):
        yield "question"


def message(root: Root, entry: Entry, reason: str) -> str:
    """The sentence of a reason. Of a candidate the bundle is read, since the gate may have left its decision there."""
    match reason:
        case "conflict":
            return f"it and {named(conflicts(root, entry))} conflict, and both are active"
        case "rival":
            return f"another active fact about {entry.main} claims something else: {named(rivals(root, entry))}"
        case "proposal":
            return f"a proposal to replace {', '.join(proposed(root, name) for name in entry.related(PROPOSED))}"
        case "fading":
            before, now = sums.shown(entry.standing.trust), sums.shown(root.served_trust(entry))
            return f"unconfirmed since build {fading_since(root, entry)}: served with trust {now} instead of {before}"
        case "candidate":
            held = gate.last_decision(root, entry, root.bundle(entry))
            if held is None:
                return "a candidate that nothing holds"
            why = gate.REASONS.get(held)
            return f"a candidate, held: {held}" + (f" ({why})" if why else "")
        case _:
            return f"an open question since build {entry.created}"


def named(others: list[Entry]) -> str:
    """The first of some records, and how many more there are."""
    names = list(dict.fromkeys(other.id for other in others))
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def proposed(root: Root, address: str) -> str:
    """What a proposal would replace, with its status where it is served no more."""
    other = root.find(address)
    if other is None:
        return f"{address}, which is not there"
    return other.id if other.status == "active" else f"{other.id}, which is {other.status}"


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
