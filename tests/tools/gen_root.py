"""Writes a large knowledge root in which nothing is wrong, the same for the same seed.

    .venv/bin/python tests/tools/gen_root.py OUT --bundles 10000

About 7.3 files a bundle: records of every kind, logs of 3 to 20 events, relations with their inverses, chains of
supersession, measurements, sealed manifests, and a run ledger for each product. `memidex check` of one gives no error
and no warning but those that the states themselves mean (a conflict, a burst of anchors).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memidex.records.memidex import ids
from memidex.records.memidex.anchors import normalized
from memidex.records.memidex.render import line_of
from memidex.records.memidex.values import AnyTarget, Element, ErrorMessage, Flow, Page, Platform, Scope, Selector
from memidex.records.memidex.vocabulary import INVERSE, PROMOTABLE_KINDS

PRODUCTS = ("komazon", "ledgerly", "trailmap", "potluck", "clinicdesk", "tidewatch", "homelet", "tuneshelf")
RUNS = 520
NEWEST = 400
"""No record is created after this run, so that its log fits into the ledger."""
ROLES = ("button", "link", "textbox", "checkbox", "combobox", "menuitem", "tab", "heading", "row", "dialog")
VERBS = ("Place", "Cancel", "Edit", "Archive", "Export", "Confirm", "Add", "Remove", "Share", "Open", "Filter", "Sort")
NOUNS = (
    "order",
    "invoice",
    "address",
    "coupon",
    "report",
    "member",
    "payment",
    "shipment",
    "ticket",
    "playlist",
    "sensor",
)
TAILS = (
    "",
    " now",
    " again",
    " · $36.00",
    " · 12 items",
    " (beta)",
    " für später",
    " 次へ",
    " 🛒",
    " in bulk",
    " – 49,90 €",
)
PAGES = ("checkout", "cart", "account", "settings", "search", "orders", "reports", "billing", "inbox", "dashboard")
ERRORS = (
    "Timeout 30000ms exceeded",
    "net::ERR_CONNECTION_RESET",
    "502 Bad Gateway",
    "Page closed",
    "Element left the page",
)
UNITS = ("ms", "items", "px", "€")
DEATHS = ("forgotten", "rejected")
FLOOR = "deterministic-verdict-floor"
encode = msgspec.json.encode


@dataclass(slots=True)
class Made:
    """One record before its bundle is written."""

    number: int
    product: str
    kind: str
    subtype: str | None
    anchors: list[AnyTarget]
    scope: Scope
    created: int
    origin: str
    incomplete: bool
    summary: str
    test: str
    page: str
    id: str = ""
    ends: tuple[str, int, str | None] | None = None
    """(type of the event, ordinal, id of the successor)."""
    links: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    active: bool = False


class Size(NamedTuple):
    bundles: int
    files: int
    bytes: int


def record(rng: random.Random, number: int, product: str) -> Made:
    """A record about an anchor of its own: its name carries its number, so no two claim different things of one."""
    kind = rng.choices(("fact", "caution", "procedure", "unknown", "policy"), (70, 15, 9, 4, 2))[0]
    role, verb, noun = rng.choice(ROLES), rng.choice(VERBS), rng.choice(NOUNS)
    name = f"{verb} {noun} {number}{rng.choice(TAILS)}"
    page = f"/{rng.choice(PAGES)}/{noun}s/step-{number}"
    test = f"{noun}s › {verb.lower()}s one, {number}"
    element, subtype = Element(role, name), None
    match kind:
        case "fact":
            subtype = rng.choices(("behavioral", "selector", "navigational", "measurement"), (40, 25, 20, 15))[0]
            anchors: list[AnyTarget] = [element]
            if subtype == "selector":
                css = f"[data-testid='{noun}-{number}']"
                anchors.append(Selector(css))
                summary = f'{role} "{name}" is located by {css}'
            elif subtype == "navigational":
                anchors.append(Page(f"https://{product}.example{page}?ref=run"))
                summary = f'{role} "{name}" opens {page}'
            elif subtype == "measurement":
                anchors.append(Page(page))
                summary = f'{role} "{name}" shows a value on {page}'
            else:
                summary = f'{role} "{name}" resolved as a verified element'
        case "caution":
            message = f"{rng.choice(ERRORS)} at '{noun}-{number}'"
            anchors, summary = [ErrorMessage(message), Flow(test)], f"{message} is seen now and then on {page}"
        case "procedure":
            anchors, summary = [Flow(test), Page(page)], f"The flow {test} passes end to end from {page}"
        case "unknown":
            anchors, summary = [element], f'Why does the {role} "{name}" keep changing?'
        case _:
            anchors, summary = [Page(page)], f"{noun.capitalize()}s of {page} are only changed in a test account."
    anchors.append(Platform(rng.choices(("web", "android", "ios"), (80, 12, 8))[0]))  # pyright: ignore[reportArgumentType]
    origin = "user" if kind == "policy" or rng.random() < 0.05 else "agent-verified"
    scope = Scope("product", product)
    if origin == "user" and rng.random() < 0.4:
        scope = Scope("suite", f"{noun}s") if rng.random() < 0.5 else Scope("test", test)
    return Made(
        number, product, kind, subtype, anchors, scope, rng.randrange(1, NEWEST), origin, rng.random() < 0.03, summary, test, page
    )  # fmt: skip


def identify(made: Made) -> None:
    made.id = ids.mint(
        made.kind, made.subtype, [normalized(anchor) for anchor in made.anchors], made.scope, made.summary
    )


def join(rng: random.Random, group: Sequence[Made]) -> None:
    """Chains of supersession, relations and ends of life among the records of one product."""
    at = 0
    while at < len(group):
        first = group[at]
        length = 1
        if first.kind in PROMOTABLE_KINDS and rng.random() < 0.08:
            length = min(rng.choice((2, 2, 2, 3, 5)), len(group) - at)
        chain = group[at : at + length]
        for number, newer in enumerate(chain[1:], 2):
            older = chain[number - 2]
            for name in ("kind", "subtype", "anchors", "scope", "origin", "test", "page"):
                setattr(newer, name, getattr(older, name))
            newer.summary = f"{first.summary}; seen again in version {number}"
            newer.created = min(older.created + rng.randrange(6, 20), RUNS - 20)
        for made in chain:
            identify(made)
        for older, newer in pairwise(chain):
            older.ends = ("superseded", newer.created, newer.id)
            link(newer, "supersedes", older, newer.created)
        at += length
    for made in group:
        made.active = made.kind in PROMOTABLE_KINDS and not made.incomplete and rng.random() < 0.9
        if made.ends is None and rng.random() < 0.04:
            made.ends = ("deprecated", made.created + rng.randrange(5, 60), None)
    for one, other in zip(group[::2], group[1::2], strict=False):
        draw = rng.random()
        if draw < 0.16:
            link(other, "relates-to", one, max(one.created, other.created))
        elif draw < 0.18:
            link(other, "equivalent-to", one, max(one.created, other.created))
        elif draw < 0.19:
            link(other, "conflicts-with", one, max(one.created, other.created))
        elif draw < 0.24:
            link(other, "derived-from", one, other.created)


def link(made: Made, kind: str, other: Made, ordinal: int) -> None:
    made.links.append({"type": kind, "target": other.id, "atOrdinal": ordinal})
    if kind in INVERSE:
        other.links.append({"type": INVERSE[kind], "target": made.id, "atOrdinal": ordinal})


# The files ------------------------------------------------------------------------------------------------------------


def instant(ordinal: int, second: int) -> str:
    day = ordinal - 1
    year, rest = divmod(day, 336)
    return f"{2025 + year}-{1 + rest // 28:02d}-{1 + rest % 28:02d}T{9 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


def uuid7(rng: random.Random, ordinal: int, second: int) -> str:
    noise = rng.getrandbits(74)
    milliseconds = 1_735_700_000_000 + ordinal * 86_400_000 + second * 1000
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | (noise >> 62) << 64 | 2 << 62 | noise & (1 << 62) - 1))


def events(rng: random.Random, made: Made) -> list[dict[str, Any]]:
    """3 to 20 events in the order of the runs; each takes effect."""
    total = min(20, max(3, int(rng.gammavariate(3.0, 2.6))))
    found: list[dict[str, Any]] = []
    last = made.ends[1] if made.ends else RUNS
    ordinal = made.created

    def add(kind: str, origin: str, **more: Any) -> str:
        second = 60 * len(found)
        name = uuid7(rng, ordinal, second)
        told = {"buildOrdinal": ordinal, "origin": origin, "type": kind, "id": name, "at": instant(ordinal, second)}
        run = {"run": f"{made.product}-{ordinal:04d}"} if origin != "user" else {"actor": "mira"}
        found.append({**told, **run, **more})
        return name

    first = "user" if made.origin == "user" else "agent-verified"
    add("confirmed", first, **({} if first == "user" else {"test": made.test, "step": 3}))
    if made.active:
        add("promoted", first, path="user-sovereign" if first == "user" else FLOOR)
    doubted: str | None = None
    stride = max(1, (last - ordinal) * 2 // total)
    while len(found) < total and ordinal < last:
        ordinal = min(ordinal + rng.randrange(1, stride + 1), last)
        kind = rng.choices(("confirmed", "helpful", "contradicted", "harmful", "retracted"), (72, 17, 6, 3, 2))[0]
        if kind == "retracted":
            if doubted:
                add(kind, "user", retracts=[doubted])
                doubted = None
            continue
        name = add(
            kind, "agent-verified", test=made.test, **({"step": 3} if kind in ("confirmed", "contradicted") else {})
        )
        doubted = name if kind in ("contradicted", "harmful") else doubted
    if not made.ends and rng.random() < 0.85:
        ordinal = max(ordinal, RUNS - rng.randrange(3))
        add("confirmed", "agent-verified", test=made.test, step=3)
    if made.ends:
        kind, ordinal, by = made.ends
        if kind == "superseded":
            add(kind, "agent-verified", by=by)
            add("window-close", "agent-verified")
        else:
            add(kind, "user", reason=rng.choice(DEATHS))
    return found


def files(rng: random.Random, made: Made) -> dict[str, bytes]:
    """Every file of a bundle, sealed."""
    anchors = [{"raw": anchor, "normalized": normalized(anchor)} for anchor in made.anchors]
    subtype = f'subtype: "{made.subtype}"\n' if made.subtype else ""
    scope = {"tier": made.scope.tier, "key": made.scope.key}
    detail = f"Seen first in build {made.created}, on {made.page}; the step acted on exactly one element."
    if made.kind == "procedure":
        actions = {
            "parameters": [{"name": "quantity", "type": "number", "example": 2}],
            "actions": [{"action": "open", "anchor": made.anchors[1], "value": None}],
        }
        detail += f"\n\n```json\n{encode(actions).decode()}\n```"
    front = (
        f'---\nschemaVersion: 2\nid: "{made.id}"\nkind: "{made.kind}"\n{subtype}anchors: {encode(anchors).decode()}\n'
        f"scope: {line_of(scope)}\ncreatedAtOrdinal: {made.created}\noriginClass: \"{made.origin}\"\n"
        f"evidenceIncomplete: {'true' if made.incomplete else 'false'}\n---\n\n## Summary\n\n{made.summary}\n\n## Detail\n\n{detail}\n"
    )  # fmt: skip
    log = events(rng, made)
    run = f"{made.product}-{made.created:04d}"
    seen = [
        {"id": uuid7(rng, made.created, step), "kind": "value" if made.subtype == "measurement" else "element", "run": run, "test": made.test, "step": step, "page": made.page}
        for step in range(3, 3 + rng.randrange(1, 4))
    ]  # fmt: skip
    writer = (
        {"by": "person", "name": "mira"}
        if made.origin == "user"
        else {"by": rng.choice(("model", "template")), "name": "gen"}
    )
    provenance = {
        "run": run, "buildOrdinal": made.created, "mode": "local", "test": made.test, "step": 3, "writer": writer, "at": instant(made.created, 0),
    }  # fmt: skip
    data = {
        "record.md": front.encode(),
        "evidence/outcomes.jsonl": b"".join(encode(event) + b"\n" for event in log),
        "evidence/evidence.md": ("# Evidence\n\n" + "".join(f"- {run}, step {each['step']}: matched once on {made.page}\n" for each in seen)).encode(),
        "provenance.json": pretty(provenance),
        "observations.jsonl": b"".join(encode(each) + b"\n" for each in seen),
        "relations.json": pretty({"relations": made.links}),
    }  # fmt: skip
    if made.active and rng.random() < 0.15:
        decision = {
            "gate": "promotion",
            "passed": True,
            "reason": FLOOR,
            "buildOrdinal": made.created,
            "at": instant(made.created, 60),
        }
        data["evidence/gates.jsonl"] = encode(decision) + b"\n"
    if made.subtype == "measurement":
        values = sorted(round(rng.uniform(10, 500), 2) for _ in range(5))
        mad = sorted(round(abs(value - values[2]), 2) for value in values)[2]
        samples = [{"buildOrdinal": made.created + index, "value": value} for index, value in enumerate(values)]
        data["evidence/measurements.json"] = pretty(
            {"unit": rng.choice(UNITS), "baseline": {"n": 5, "median": values[2], "mad": mad}, "samples": samples}
        )
    if rng.random() < 0.10:
        picture = {
            "path": f"artifacts/{run}-step-3.png",
            "kind": "screenshot",
            "hash": f"{rng.getrandbits(256):064x}",
            "step": 3,
        }
        data["artifacts.index.json"] = pretty({"artifacts": [picture]})
    sealed = {
        name: {"hash": hashlib.sha256(body).hexdigest(), "size": len(body)} for name, body in sorted(data.items())
    }
    data["manifest.json"] = pretty({"schemaVersion": 2, "algorithm": "sha256", "files": sealed})
    return data


def pretty(value: Any) -> bytes:
    """As `render.document` writes it, in a fifth of the time."""
    return msgspec.json.format(encode(value), indent=2) + b"\n"


def ledger(product: str) -> bytes:
    return b"".join(
        encode({"ordinal": ordinal, "run": f"{product}-{ordinal:04d}", "at": instant(ordinal, 0), "mode": "local", "tests": {"passed": 12, "failed": 0, "flaky": 0}}) + b"\n"
        for ordinal in range(1, RUNS + 1)
    )  # fmt: skip


def generate(out: Path, bundles: int, seed: int = 1, products: int = 3) -> Size:
    """Write the root `out/agent-qa-knowledge`."""
    rng = random.Random(seed)
    names = PRODUCTS[: max(1, min(products, len(PRODUCTS)))]
    weights = [1 / (place + 1) for place in range(len(names))]
    groups: dict[str, list[Made]] = {name: [] for name in names}
    for number in range(bundles):
        name = rng.choices(names, weights)[0]
        groups[name].append(record(rng, number, name))
    count = size = 0
    for name, group in groups.items():
        join(rng, group)
        home = f"{out}/agent-qa-knowledge/memory/{name}"
        os.makedirs(f"{home}/bundles", exist_ok=True)
        Path(f"{home}/runs.jsonl").write_bytes(ledger(name))
        count += 1
        for made in group:
            folder = f"{home}/bundles/{made.id}"
            os.makedirs(f"{folder}/evidence")
            for file, body in files(rng, made).items():
                handle = os.open(f"{folder}/{file}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                os.write(handle, body)
                os.close(handle)
                count += 1
                size += len(body)
    return Size(bundles, count, size)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write a large knowledge root in which nothing is wrong.")
    parser.add_argument("out", type=Path, help="the folder to write to; it is empty or not there")
    parser.add_argument("--bundles", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--products", type=int, default=3, metavar="P", help=f"1 to {len(PRODUCTS)}")
    options = parser.parse_args()
    if options.out.exists() and any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty")
    print(
        "{0.bundles:,} bundles, {0.files:,} files, {0.bytes:,} bytes".format(
            generate(options.out, options.bundles, options.seed, options.products)
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
