"""The worked examples of every game, and the errors of examples that do not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import catalogue, scenario
from engine.scenario import Failed
from tests.engine import highcard

FOLDER = Path(__file__).parents[1] / "scenarios"
BOOKS = [path for name in catalogue.find_all() for path in (catalogue.get_folder(name) / "book").glob("*/*.toml")]
FILES = sorted([*(path for path in FOLDER.glob("*/*") if path.suffix in (".toml", ".json")), *BOOKS])


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-4:]))
def test_the_worked_example_holds(path):
    example = scenario.load(path)
    assert example.game in path.parts
    assert example.title
    scenario.run(example)


@pytest.mark.parametrize("name", catalogue.find_all())
def test_every_game_has_worked_examples(name):
    assert [path for path in FILES if path.parent.name == name]


def test_a_star_removes_all_items():
    game = catalogue.find("kaiser")
    state = game.State(stones={"A1": {"seat": 0, "rank": "king"}, "A2": {"seat": 0, "rank": "king"}})
    patch = {"stones": {"*": "-", "A3": {"seat": 1, "rank": "emperor"}}}
    assert list(scenario.patch(game, state, patch).stones) == ["A3"]


DEAL = 'game = "highcard"\nseats = 2\noptions = { cards = 1 }\nrig = { deck = [7, 9] }\n'


def run(text, deal=DEAL):
    return scenario.run(scenario.load(Path("example.toml"), deal + text), highcard)


def step(words):
    return f"[[steps]]\n{words}\n"


PLAY = step('seat = 0\nmove = "play 7"') + step('seat = 1\nmove = "play 9"\nexpect = [{expect}]')


@pytest.mark.parametrize(
    "claim",
    [
        "seat 0 has 0 points",
        "seat 1 has 1 point",
        "nobody is to move",
        "seat 1 is not to move",
        "seat 1 is in",
        "seat 1 wins",
        "seat 0 is placed 2",
        "seat 0 may not play 7",
        "the game is over",
        "TrickWon happened",
        "Dealt did not happen",
        "Nonsense never happened",
    ],
)
def test_a_sentence_that_holds(claim):
    run(PLAY.replace("{expect}", f'"{claim}"'))


@pytest.mark.parametrize(
    "claim",
    [
        "seat 0 has 1 point",
        "seat 0 is to move",
        "seat 0 is out",
        "seat 0 wins",
        "seat 1 is placed 2",
        "seat 1 may play 9",
        "the game goes on",
        "Dealt happened",
        "TrickWon did not happen",
        "Dealt never happened",
    ],
)
def test_a_sentence_that_does_not_hold_fails_in_its_step(claim):
    with pytest.raises(Failed, match=r"step 2 \(seat 1: play 9\).*does not hold; to move: \[\], scores \[0, 1\]"):
        run(PLAY.replace("{expect}", f'"{claim}"'))


def test_sentences_about_the_turn_and_about_legal_moves():
    run('expect = ["seat 0 is to move", "seat 1 is not to move", "seat 0 may play 7", "seat 0 may not play 9"]')


def test_a_value_in_a_view():
    run(PLAY.replace("{expect}", '{ path = "points", value = [0, 1] }, { path = "points.1", value = 1 }'))
    run('expect = [{ path = "own", seat = 1, value = [9] }, { path = "own", value = [] }]')


def test_an_event_with_some_of_its_fields():
    run(PLAY.replace("{expect}", '{ event = { type = "TrickWon", seat = 1 } }'))
    run(PLAY.replace("{expect}", "{ event = { places = [2, 1] } }"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (step('seat = 1\nmove = "play 9"'), r"^step 1 \(seat 1: play 9\): There is nothing for you"),
        (step('seat = 0\nmove = "play 9"'), r"^step 1 \(seat 0: play 9\): After “play”, “9” does not fit"),
        (step('seat = 0\nrefused = "play 7"'), r"^step 1 \(seat 0: play 7\): was accepted"),
        (step('seat = 0\nrefused = "play 9"\nbecause = "too high"'), r"^step 1 .*not because “too high”"),
        (step("seat = 0"), r"^step 1 .*say either"),
        (step('seat = 0\nmove = "play 7"\nrefused = "play 9"'), r"^step 1 .*say either"),
        (step('seat = 5\nmove = "play 7"'), r"^step 1 .*no such seat"),
        (PLAY.replace("{expect}", '{ path = "purse", value = 1 }'), "^step 2 .*: purse is not in the view"),
        (PLAY.replace("{expect}", '{ path = "points.7", value = 1 }'), r"^step 2 .*: points\.7 is not in the view"),
        (PLAY.replace("{expect}", '{ path = "points.0", value = 1 }'), r"^step 2 .*: points\.0 is 0, not 1"),
        (PLAY.replace("{expect}", '{ event = { type = "Dealt" } }'), "^step 2 .*: no .*Dealt.* happened, only"),
        (PLAY.replace("{expect}", '"the moon is full"'), "^step 2 .*there is no check “the moon is full”"),
        (PLAY.replace("{expect}", '"seat 7 has 1 point"'), "^step 2 .*speaks of a seat that is not there"),
        ('expect = ["the game is over"]', "^the end: “the game is over” does not hold"),
        ("given = { hands = 5 }", "^what is given does not make a position"),
    ],
)
def test_a_wrong_expectation_fails_with_its_step(text, sentence):
    with pytest.raises(Failed, match=sentence):
        run(text)


@pytest.mark.parametrize(
    ("deal", "text"),
    [
        (DEAL.replace("deck", "dice"), ""),
        (DEAL, step('seat = 0\nmove = "play 7"\nrig = { deck = [12] }')),
    ],
)
def test_a_rigged_result_that_is_never_drawn_is_an_error(deal, text):
    with pytest.raises(Failed, match=r"foreseen but never drawn: “d[a-z]+”: .*[0-9]"):
        run(text, deal)


@pytest.mark.parametrize(
    ("deal", "sentence"),
    [
        ('game = "highcard"\nseats = 9\n', "the opening: High Card is played by 2, 3, 4 players, not by 9"),
        ('game = "highcard"\nseats = 2\noptions = { cards = 9 }\n', "the opening: The option “cards” can be 1 to 5"),
        ('game = "highcard"\nseats = 2\nrig = { deck = [99] }\n', "the opening: “99” cannot be drawn for “deck”"),
        ('game = "highcard"\nseats = "two"\n', "example.toml is not a scenario"),
        ('game = "highcard"\nseats = 2\nmoves = []\n', "example.toml is not a scenario.*moves"),
        ("game = \n", "example.toml is not a scenario"),
    ],
)
def test_a_wrong_opening_fails_with_its_reason(deal, sentence):
    with pytest.raises(Failed, match=sentence):
        run("", deal)


def test_an_unknown_game_is_refused_with_the_names_of_games():
    with pytest.raises(Failed, match="no game “chess”; the games are: "):
        scenario.run(scenario.Scenario(game="chess", seats=2))


def test_a_scenario_may_be_json():
    text = '{"game": "highcard", "seats": 2, "rig": {"deck": [20]}, "expect": ["seat 0 may play 20"]}'
    scenario.run(scenario.load(Path("example.json"), text), highcard)
    with pytest.raises(Failed, match="is not a scenario"):
        scenario.load(Path("example.json"), "{")


def test_given_parts_are_merged_into_the_position():
    state = run('given = { points = [3, 4] }\nexpect = ["seat 1 has 4 points"]')
    assert state.hands == ((7,), (9,))


def test_a_step_may_have_its_own_rig_and_other_draws_are_always_the_same():
    example = scenario.load(Path("example.toml"), 'game = "highcard"\nseats = 4\n')
    assert scenario.run(example, highcard) == scenario.run(example, highcard)


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-4:]))
def test_the_last_move_in_place_of_itself_leads_to_the_same_position(path):
    example = scenario.load(path)
    *_, last = scenario.play_steps(example)
    last_move = example.steps[-1].move if example.steps else ""
    if last_move:  # others begin and end with a position, or end with a move that is refused
        assert scenario.try_instead(example, last_move).moment == last
