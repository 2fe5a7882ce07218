"""Shared by all tests."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
# The machine is shared and noisy: a slow example is no failure.
settings.register_profile("memidex", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
settings.load_profile("memidex")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was tried, of each kind, as tests told it by `record_property`; it comes from the workers of xdist too."""
    tried: Counter[str] = Counter()
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "call":
                for name, value in report.user_properties:
                    if isinstance(value, int):
                        tried[name] += value
    for name in sorted(tried):
        terminalreporter.write_line(f"tried: {tried[name]:,} {name}")
