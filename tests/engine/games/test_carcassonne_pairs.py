"""Every two boxes of Carcassonne, and random mixtures of all, keep the contract; each test takes other samples."""

from random import Random

import pytest

from engine import audit, bots, search
from engine import game as games
from engine import menu as menus
from engine.contract import suite as contract
from engine.contract.cases import play_case, sample
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.state import FeatureScored, FinalScoringBegan
from engine.search.levels import Level
from tests.carcassonne_boxes import sample_cases
from tests.engine.ledger import abandon, play_eventfully, start_table
from tests.engine.test_combinations import test_the_contract_holds as check_contract
from tests.engine.test_twins import find_differences
from tests.invariants import carcassonne as invariants

SEED = contract.SEEDS[0]
LEVELS = {**search.LEVELS, "strong": Level(40, 1.0)}  # a strong bot that thinks for a moment only


@pytest.mark.parametrize("case", sample_cases(0, mixtures=0))
def test_menus_states_and_replays(case):
    check_contract(case)
    contract.test_points_have_a_source(case)
    contract.test_events_have_one_canonical_form(case)


@pytest.mark.parametrize("case", sample_cases(5))
def test_no_entry_of_a_twin_world_tells_hidden_things(case):
    different, compared = find_differences(case, every_reader=False)
    assert different == []
    assert compared


@pytest.mark.parametrize("case", sample_cases(10))
def test_a_log_with_undos_and_players_who_leave_passes_the_audit(case):
    ledger = start_table(carcassonne, case.seats, case.chosen)
    log = abandon(play_eventfully(ledger, Random(str(case)), moves=80)).export()
    assert audit.audit(carcassonne, log).finding is None


@pytest.mark.parametrize("case", sample_cases(15, mixtures=0))
def test_a_copy_of_any_position_can_be_played_to_the_end(case):
    positions = play_case(case, SEED)
    for number, position in enumerate(sample(positions, 3)):
        before = position.state
        ended = bots.play_random_moves(carcassonne, before, Random(number), 20 * len(positions) + 1000)
        assert games.is_over(carcassonne, ended)
        assert before == position.state
        invariants.check(ended)


@pytest.mark.parametrize("case", sample_cases(20))
def test_bots_of_all_levels_choose_moves_from_the_menu(case):
    for number, position in enumerate(sample(play_case(case, SEED), 9)[:-1]):
        level = LEVELS[list(LEVELS)[number % 3]]
        for seat in range(case.seats):
            offered = carcassonne.menu(position.state, seat)
            if offered:
                assert menus.allows(offered, search.choose_move(level, carcassonne, position.state, seat, number))


@pytest.mark.parametrize("case", sample_cases(25, mixtures=2))
def test_the_final_scoring_goes_on_step_by_step_and_takes_every_figure_that_is_scored(case):
    *_, last = play_case(case, SEED)
    state, kinds = last.before, []
    for event in last.events:
        points = [one.score for one in carcassonne.standing(state)]
        state = carcassonne.evolve(state, event)
        now = [one.score for one in carcassonne.standing(state)]
        gains = [sum(got for _, got in carcassonne.sources(event, seat)) for seat in range(case.seats)]
        assert now == [old + gain for old, gain in zip(points, gains, strict=True)]
        kinds += [event.kind] if isinstance(event, FeatureScored) and event.final else []
    assert [event for event in last.events if isinstance(event, FinalScoringBegan)]
    assert kinds == sorted(kinds, key=get_rules(case.options).feature_order.index)
    assert not any(feature.figures for feature in state.features.values())
