"""Why a change is refused or held: the closed list of reasons, each with its page of one paragraph."""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """A name that answers carry, and what it means to whoever asked and what to do about it."""

    name: str
    page: str


REASONS: tuple[Reason, ...] = (
    # Which record, and can it be decided upon at all?
    Reason(
        "unknown-record",
        "No record has this address, or its folder went in the meantime. `memidex inspect` lists the records that are there.",
    ),
    Reason(
        "repeated-id",
        "Several bundles bear this id, so that the address could mean any of them. Name one by the path of its folder, and mend the others: an id names one record.",
    ),
    Reason(
        "unsupported-version",
        "The record is of a version of the format that is not understood here, so nothing is written to it.",
    ),
    Reason(
        "unsound",
        "The record's frontmatter or its log cannot be read, or one of its files is a link or too large: what it says now is not known, so nothing is added. Mend what `memidex check` reports on it first.",
    ),
    Reason(
        "unreadable-relations",
        "The decision changes relations, and the record's `relations.json` is not of a shape that can be edited without losing what is in it. Mend the file first.",
    ),
    Reason(
        "stale",
        "The record's log changed after it was looked at: another person or a run decided in the meantime. Look at it again and decide anew.",
    ),
    # May this be done here, and by this one?
    Reason("untrusted", "The folder is not trusted, so nothing in it is changed. Trust the workspace in the editor."),
    Reason("read-only", "The knowledge root cannot be written: its file system or its permissions forbid it."),
    Reason(
        "agent-may-not",
        "Only a person accepts, overturns and seals, and only a person takes back what a person said.",
    ),
    Reason(
        "agent-retires-active",
        "An agent cannot retire an active record on its own; only a person can. It may supersede it, or raise an open question.",
    ),
    Reason(
        "overturned",
        "A person overturned this decision of an agent on this record. An agent may repeat it only after a confirmation in a later build.",
    ),
    Reason(
        "ci-run",
        "A CI run corrects and retires nothing: a correction is kept as a proposal, a retirement as an open question.",
    ),
    # Does the record's state allow it?
    Reason("already-so", "What was asked for is so already; a decision is never written twice."),
    Reason(
        "not-live",
        "The record was superseded or retired, and only a candidate or an active record can be decided upon. Retracting the event that ended it brings it back.",
    ),
    Reason(
        "not-a-candidate",
        "Only a candidate or a proposal can be rejected, and this record is active. `forget` retires it, `contradict` says that it is wrong.",
    ),
    Reason("target-missing", "The record that the proposal would replace is not there. `confirm` accepts it by itself."),
    Reason(
        "target-not-live",
        "The record that would be replaced was superseded or retired already. `confirm` accepts the proposal by itself.",
    ),
    Reason(
        "manifest-unknown",
        "The manifest is of another writer's shape that is not known here, and sealing would lose what it says.",
    ),
    # Superseding.
    Reason("no-replacement", "A replacement needs a summary and a detail, or the address of a record that replaces this one."),
    Reason(
        "bad-replacement",
        "The new record would not be a sound one: its text holds headings or marks that would be read as another part of the file, a procedure lacks its block of actions, or it would replace itself.",
    ),
    Reason(
        "replacement-exists",
        "A record that says just this about the same thing is there already. Accept that one, or supersede by it.",
    ),
    Reason("credential", "The text looks like a credential, and what is written here is committed. Word it without."),
    # Taking back.
    Reason("nothing-to-undo", "No event was named to take back, and there is no decision of a person that could be."),
    Reason("unknown-event", "The record's log has no event of this identity. The record's card lists its events."),
    Reason(
        "not-overturnable",
        "Only what an agent decided can be overturned: its `promoted`, `superseded` or `deprecated`. Anything else is retracted.",
    ),
    # The writing.
    Reason(
        "unsaved-edits",
        "A file of a record that the decision writes to is open in the editor with edits that are not saved, so that saving them later would undo the decision. Save or close the file, and decide again.",
    ),
    Reason("cancelled", "You were asked, since other records are touched by it, and did not go on. Nothing is written."),
    Reason("busy", "Another process holds the root's lock and did not let go of it in time. The message names it; try again."),
    Reason("cannot-lock", "The file system cannot lock files, so that two writers could not be kept apart. Nothing is written."),
)  # fmt: skip
BY_NAME: dict[str, Reason] = {reason.name: reason for reason in REASONS}
