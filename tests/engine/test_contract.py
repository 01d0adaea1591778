"""The engine's contract, tried on every game in the catalogue and on High Card."""

from engine.contract.suite import *  # noqa: F403 - what is promised stands there
from tests.engine.cases import all_games

GAMES = all_games()
