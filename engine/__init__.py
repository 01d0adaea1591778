"""Pure rules: what a table may do, what it did, and the proof of it."""
