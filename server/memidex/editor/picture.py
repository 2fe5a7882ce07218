"""A small picture of how trust went from build to build, as an SVG in a data URI."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import NamedTuple

from memidex.history import trust as sums
from memidex.history.standing import Step

WIDTH, HEIGHT = 320, 88
LEFT, RIGHT, TOP, BOTTOM = 26, 8, 8, 70
MAX_DOTS = 80
# Middle tones, readable on a light and on a dark ground.
BANDS = {"candidate": "#8a8a8a", "active": "#2ea043", "superseded": "#d18616", "deprecated": "#e5534b"}
DOTS = {
    "confirmed": "#2ea043", "helpful": "#2ea043", "contradicted": "#e5534b", "harmful": "#e5534b", "promoted": "#388bfd",
    "superseded": "#d18616", "deprecated": "#e5534b",
}  # fmt: skip
GREY = "#8a8a8a"


class Picture(NamedTuple):
    """An image as Markdown can show it."""

    uri: str
    alt: str


def picture(steps: Sequence[Step], created: int, current: int, origin: str) -> Picture:
    """Trust from `created` to `current`, with the status as bands and the events as dots; of bounded size, whatever the log.

    Builds in which nothing happened take no room: each build with an event is one step across, and now is the last.
    """
    builds = sorted({created, *(step.event.ordinal for step in steps)})
    last = max(current, builds[-1])
    places = {ordinal: index for index, ordinal in enumerate(builds)}

    def across(ordinal: int) -> int:
        return LEFT + (WIDTH - LEFT - RIGHT) * places[ordinal] // len(builds)

    def down(trust: float) -> int:
        return round(BOTTOM - (BOTTOM - TOP) * trust)

    start = float(sums.trust(0, 0, 0, 0, origin))
    # One step for each column of the picture is all that can be seen.
    columns: dict[int, Step] = {across(step.event.ordinal): step for step in steps}
    line = [f"M{LEFT} {down(start)}"]
    bands: list[tuple[int, str]] = [(LEFT, "candidate")]
    for x, step in columns.items():
        line.append(f"H{x}V{down(float(step.trust))}")
        if step.status != bands[-1][1]:
            bands.append((x, step.status))
    line.append(f"H{WIDTH - RIGHT}")
    parts = [
        f'<rect x="{x}" y="{TOP}" width="{max(0, end - x)}" height="{BOTTOM - TOP}" fill="{BANDS[status]}" fill-opacity=".18"/>'
        for (x, status), (end, _) in zip(bands, [*bands[1:], (WIDTH - RIGHT, "")], strict=True)
    ]
    parts += [
        f'<path d="M{LEFT} {down(height)}H{WIDTH - RIGHT}" stroke="{GREY}" stroke-opacity=".4" stroke-dasharray="2 3"/>'
        for height in (0, 0.5, 1)
    ]
    parts.append(f'<path d="{"".join(line)}" fill="none" stroke="#388bfd" stroke-width="1.5"/>')
    shown = list(columns.items())
    for x, step in shown[:: max(1, -(-len(shown) // MAX_DOTS))]:
        colour = DOTS.get(step.event.type, GREY)
        fill = colour if step.effective else "none"
        parts.append(f'<circle cx="{x}" cy="{down(float(step.trust))}" r="2.5" fill="{fill}" stroke="{colour}"/>')
    label = f'<text font-family="sans-serif" font-size="9" fill="{GREY}" '
    x = across(builds[-1])
    # Between the two ends only where it stands clear of both.
    clear = builds[-1] < last and LEFT + 70 < x < WIDTH - RIGHT - 70
    newest = [f'{label}x="{x}" y="{HEIGHT - 6}" text-anchor="middle">{builds[-1]}</text>'] if clear else []
    parts += [
        f'{label}x="2" y="{TOP + 6}">1.0</text>',
        f'{label}x="2" y="{BOTTOM}">0.0</text>',
        f'{label}x="{LEFT}" y="{HEIGHT - 6}">build {builds[0]}</text>',
        *newest,
        f'{label}x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">build {last}</text>',
    ]
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">{"".join(parts)}</svg>'
    return Picture(
        "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode(), told(steps, builds[0], last, origin)
    )


def told(steps: Sequence[Step], first: int, last: int, origin: str) -> str:
    """What the picture shows, in words."""
    end = steps[-1] if steps else None
    before = sums.shown(sums.trust(0, 0, 0, 0, origin))
    after = sums.shown(end.trust) if end else before
    return f"Trust from build {first} to {last}: from {before} to {after}, {end.status if end else 'candidate'}, {len(steps):,} events"
