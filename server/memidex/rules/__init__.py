"""What is wrong: one rule a module in `checks`, and the engine that runs them. Knows no protocol and no disk."""
