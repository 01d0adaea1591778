"""The work that RQ rings for: judging moves, sending letters, watching clocks, playing for bots."""
