"""Trust in exact arithmetic (seed "Records", section Trust; contract, section 6)."""

from __future__ import annotations

from fractions import Fraction

PRIOR = {"user": (3, 1), "agent-verified": (2, 1)}
FADED = Fraction(3, 5)
RUNS_UNTIL_FADED = 5
RUNS_UNTIL_MEASUREMENT_FADED = 3


def trust(confirmed: int, contradicted: int, helpful: int, harmful: int, origin: str) -> Fraction:
    """(confirmed + helpful/4 + α) / (confirmed + helpful/4 + contradicted + harmful/4 + α + β), between 0 and 1."""
    alpha, beta = PRIOR[origin]
    good = 4 * (confirmed + alpha) + helpful
    return Fraction(good, good + 4 * (contradicted + beta) + harmful)


def shown(value: Fraction) -> str:
    """Two decimals, a half rounded up, without going through a binary fraction."""
    hundredths = (200 * value.numerator + value.denominator) // (2 * value.denominator)
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def arithmetic(confirmed: int, contradicted: int, helpful: int, harmful: int, origin: str) -> str:
    """The sum as a person would write it, such as `(3 + 2) / (3 + 2 + 1) = 0.83`."""
    alpha, beta = PRIOR[origin]
    good = f"{confirmed}" + (f" + {helpful}/4" if helpful else "")
    bad = (f" + {contradicted}" if contradicted else "") + (f" + {harmful}/4" if harmful else "")
    result = shown(trust(confirmed, contradicted, helpful, harmful, origin))
    return f"({good} + {alpha}) / ({good}{bad} + {alpha} + {beta}) = {result}"
