"""The contract of a game as tests, for built-in games and for packages; imports pytest as well as the engine."""
