"""What is said: the record languages, one folder each, parsed and rendered without knowing time, trust or other records."""
