"""The contract tests, for every game in the catalogue and High Card."""

from engine.contract.suite import *  # noqa: F403 - the tests of this file
from tests.engine.cases import all_games

GAMES = all_games()
