"""One rule a module; its docstring is its page."""
