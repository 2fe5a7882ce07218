"""After one record changed, looking again at it and its dependents finds what looking at everything finds."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from memidex.records.memidex.bundle import Bundle, read
from memidex.records.memidex.read import File
from memidex.records.memidex.values import Run
from memidex.records.memidex.vocabulary import RELATIONS
from memidex.rules import engine, registry
from memidex.rules.rule import Finding
from memidex.store.snapshot import Root, entry

HOME = "/kb"
COUNT = 14
IDS = [f"fact-flow-{name}-{index:016x}" for index, name in enumerate("abcdefghijklmn")]
RUNS = range(1, 8)
Files = dict[str, bytes]


RARE = {
    1: {"anchor-burst"},
    2: {"anchor-burst"},
    4: {"anchor-burst", "churning-anchor"},
    14: {"churning-anchor", "same-record-twice", "rival-facts"},
}
"""What cannot come up among so many things, or hardly."""


class Memory:
    """A reader whose files are values."""

    def __init__(self) -> None:
        self.bundles: dict[str, Bundle] = {}

    def bundle(self, directory: str) -> Bundle | None:
        return self.bundles.get(directory)

    def file(self, path: str) -> File | None:
        return None


def directory(index: int) -> str:
    # Every sixth record is of another product.
    return f"{HOME}/memory/{'shop' if index % 6 else 'desk'}/bundles/{IDS[index]}"


def line(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def record(rng: Random, index: int, things: int) -> Files:
    """The files of one record that is about one of `things` flows and joined to a few others."""
    flow = {"t": "flow", "name": f"n{index % things}"}
    named = [flow, *([{"t": "platform", "platform": rng.choice(["web", "ios"])}] if rng.random() < 0.5 else [])]
    kind = rng.choice([*["fact"] * 12, "caution", "procedure", "unknown", "fct"])
    front = {
        "schemaVersion": 3 if rng.random() < 0.05 else 2,
        "id": rng.choice(IDS) if rng.random() < 0.1 else IDS[index],
        "kind": kind,
        **({"subtype": "behavioral"} if kind == "fact" else {}),
        "anchors": [{"raw": target, "normalized": target} for target in named],
        "scope": rng.choice(
            [{"tier": "global"}, {"tier": "global"}, {"tier": "global"}, {"tier": "suite", "key": "s"}]
        ),
        "createdAtOrdinal": rng.choice([1, 6, 6, 6, 7, 7, 7, 7]),
        "originClass": "agent-verified",
        "evidenceIncomplete": False,
    }
    summary = rng.choice(["It opens.", "It closes.", "It  opens."])
    text = (
        "---\n"
        + "".join(f"{name}: {line(value)}\n" for name, value in front.items())
        + "---\n"
        + "\n" * rng.randint(0, 1)
    )
    text += f"\n## Summary\n\n{summary}\n\n## Detail\n\nSeen.\n"
    events: list[dict[str, object]] = [{"type": "confirmed"}] if rng.random() < 0.8 else []
    if rng.random() < 0.8:
        events.append({"type": "promoted", "path": "deterministic-verdict-floor"})
    if rng.random() < 0.4:
        events.append({"type": "superseded", **({"by": rng.choice(IDS)} if rng.random() < 0.5 else {})})
    elif rng.random() < 0.2:
        events.append({"type": "deprecated"})
    ordinals = sorted(rng.choice(RUNS) for _ in events)
    log = [
        {"buildOrdinal": ordinal, "origin": rng.choice(["user", "agent-verified"]), **event}
        for ordinal, event in zip(ordinals, events, strict=True)
    ]
    relations: list[dict[str, object]] = []
    for _ in range(rng.randint(0, 4)):
        target = rng.choice(
            [
                *IDS,
                *IDS,
                "MEM-002",
                "agentqa://memory/MEM-3",
                f"agentqa://memory/{IDS[4]}",
                "fact-gone-0000000000000009",
            ]
        )
        kind = rng.choice(
            [*RELATIONS, "supersedes", "superseded-by", "supersedes", "superseded-by", "conflicts-with", "supercedes"]
        )
        relations.append({"type": kind, "target": target, **({"collected": True} if rng.random() < 0.2 else {})})
    return {
        "record.md": text.encode(),
        "evidence/outcomes.jsonl": "".join(line(event) + "\n" for event in log).encode(),
        "relations.json": line({"relations": relations}).encode(),
    }


def changed(root: Root, memory: Memory, index: int, files: Files | None) -> Root:
    folder = directory(index)
    if files is None:
        memory.bundles.pop(folder, None)
        return root.without(folder)
    memory.bundles[folder] = read(folder, folder.split("/")[-3], files)
    return root.with_entry(entry(memory.bundles[folder]))


def looked_at(root: Root, folder: str) -> list[Finding]:
    found = engine.check_entry(root.entries[folder], root)
    return [without_fixes(finding) for finding in found]


def without_fixes(finding: Finding) -> Finding:
    """Which id is near to a misspelt one changes with any record; fixes are made anew when they are asked for."""
    return replace(finding, fixes=()) if finding.rule.name == "relation-to-nowhere" else finding


def everything(root: Root) -> dict[str, list[Finding]]:
    return {folder: looked_at(root, folder) for folder in sorted(root.entries)}


def run_counts(root: Root) -> object:
    return {name: (product.runs or sorted(product.events), product.current) for name, product in root.products.items()}


@pytest.mark.parametrize("with_ledger", [True, False], ids=["ledger", "no-ledger"])
@pytest.mark.parametrize("things", [1, 2, 4, 14], ids=lambda things: f"{things}-things")
def test_a_change_is_seen_wherever_it_matters(things: int, with_ledger: bool) -> None:
    told: set[str] = set()
    for seed in range(40):
        rng = Random(f"{seed} {things} {with_ledger}")
        memory = Memory()
        root = Root(HOME, memory).with_short_ids([(2, IDS[2]), (3, IDS[3])])
        for name in ("shop", "desk") if with_ledger else ():
            root = root.with_ledger(name, [Run(ordinal) for ordinal in RUNS], (0, 0, 0, 0))
        for index in rng.sample(range(COUNT), rng.choice([3, 6, COUNT])):
            root = changed(root, memory, index, record(rng, index, things))
        known = everything(root)
        for step in range(5):
            before, index = root, rng.randrange(COUNT)
            folder = directory(index)
            old = before.entries.get(folder)
            again = {folder, *(engine.dependents(before, old) if old else ())}
            root = changed(before, memory, index, record(rng, index, things) if rng.random() < 0.8 else None)
            new = root.entries.get(folder)
            again |= engine.dependents(root, new) if new else set()
            if run_counts(before) != run_counts(root):
                again |= set(root.entries)
            known = {other: looked_at(root, other) if other in again else known[other] for other in root.entries}
            full = everything(root)
            assert known == full, differing(known, full, f"seed {seed}, step {step}, {folder}")
            told |= {finding.rule.name for findings in full.values() for finding in findings}
    assert "rule-crashed" not in told
    assert told >= {rule.name for rule in registry.STORE_RULES if rule.code.startswith("MX3")} - RARE[things]


def differing(known: dict[str, list[Finding]], full: dict[str, list[Finding]], where: str) -> str:
    lines = [where]
    for folder, findings in full.items():
        lines += [f"missed in {folder}: {finding}" for finding in findings if finding not in known[folder]]
        lines += [f"left over in {folder}: {finding}" for finding in known[folder] if finding not in findings]
    return "\n".join(lines)


def test_a_record_alone_has_no_dependents() -> None:
    assert engine.dependents(Root(HOME, Memory()), entry(read(directory(1), "shop", {}))) == set()
