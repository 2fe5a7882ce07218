"""A small knowledge root that shows what there is: made by `tests/tools/make_example.py`, without a fault of its own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path() -> Path:
    """Where the example root lies in this installation. It is part of the package: copy it before changing it."""
    return Path(str(files(__name__))) / "agent-qa-knowledge"
