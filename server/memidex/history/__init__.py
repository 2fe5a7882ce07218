"""What happened: the fold of an outcome log to a standing. Knows no clock, no files, and not whether anything is a good idea."""
