"""Shared by all tests."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
# The machine is shared and noisy: a slow example is no failure.
settings.register_profile("memidex", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
settings.load_profile("memidex")
