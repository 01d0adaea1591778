"""A service of real processes among faults of every kind, and people who go on playing meanwhile."""
