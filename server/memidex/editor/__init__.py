"""What you see: hovers, definitions, completion, symbols, lenses. Offsets and plain values in and out; no protocol, no disk."""
