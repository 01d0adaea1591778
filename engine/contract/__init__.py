"""The contract of a game as tests, for the games of the house and for packages; imports pytest besides the engine."""
