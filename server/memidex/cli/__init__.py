"""The command line: one module a command group; arguments in, text or JSON and an exit code out."""
