"""memidex: see, judge and correct what testing agents learned."""

__version__ = "0.1.0"
