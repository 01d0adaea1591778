"""Run the service as real processes, inject faults of every kind, and let players go on playing meanwhile."""
