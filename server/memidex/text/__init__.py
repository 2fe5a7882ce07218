"""Where: one text, spans of it, its lines, edits to it, and columns in the units a client counts in."""

from memidex.text.edits import Edit, apply
from memidex.text.source import NOWHERE, Source, Span, decode
from memidex.text.units import Encoding, from_units, to_units

__all__ = ["NOWHERE", "Edit", "Encoding", "Source", "Span", "apply", "decode", "from_units", "to_units"]
