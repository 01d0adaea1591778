"""§8, the abbot: he is placed in cloisters and gardens, and may come home before they are complete."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import editions, scoring
from engine.games.carcassonne.hooks import BoxHooks, Deck, Rules
from engine.games.carcassonne.land import find_figure_root, send_home
from engine.games.carcassonne.state import (
    Award,
    Figure,
    Part,
    State,
    apply_awards,
    find_figure,
    finish_figure_step,
    list_figures,
)
from engine.games.carcassonne.tiles import DATA, ENCLOSED_KINDS, GARDEN, count_gardens_of
from engine.menu import Choice, Move


class AbbotRecalled(Struct, frozen=True, omit_defaults=True, tag=True):
    """An abbot went home, and his cloister or garden was scored at once."""

    figure: Figure
    awards: tuple[Award, ...]


def apply_abbot_recalled(state: State, event: AbbotRecalled) -> State:
    """§8.4: Send the abbot home in place of a figure, and pay for his place.

    The points are a scoring round of their own: the next step closes it before completed features are scored.
    """
    state = send_home(finish_figure_step(state), (event.figure,))
    return apply_awards(state, event.awards)


def _plant_gardens(bag: tuple[str, ...], gardens: dict[str, int]) -> tuple[str, ...]:
    """Give tiles of a bag a garden: of each in `gardens` as many copies as it says, or all if there are fewer."""
    planted = list(bag)
    for tile, number in gardens.items():
        for _ in range(min(number, bag.count(tile))):
            planted[planted.index(tile)] = tile + GARDEN
    return tuple(planted)


def is_about_to_be_scored(state: State, rules: Rules, figure: Figure) -> bool:
    """Whether the place of a figure is complete, so that the figure goes home when it is scored."""
    feature = state.features[find_figure_root(state, figure)]
    return not feature.open and figure in scoring.select_figures(state, rules, feature, "scored")


class Abbot(BoxHooks):
    """One more meeple for cloisters and gardens."""

    option = "abbot"
    about = "The abbot, and gardens on some of the tiles (§8)"
    supply = {"abbot": 1}
    strength = {"abbot": 1}
    segments = {"abbot": ENCLOSED_KINDS}
    verbs = ("recall",)
    events = {AbbotRecalled: apply_abbot_recalled}

    def mix_deck(self, deck: Deck) -> Deck:
        """§8.2: Give some copies of tiles a garden."""
        gardens = {name: number for box in DATA["tiles"] for name, number in count_gardens_of(box).items()}
        return replace(deck, bags=tuple(_plant_gardens(bag, gardens) for bag in deck.bags))

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§8.3: Offer to take the own abbot back; from edition 4 on not if his place is scored in this turn anyway."""
        if state.supply[seat]["abbot"]:  # each seat has only one, so he is not on the table
            return None
        abbot = next((one for one in list_figures(state) if one.seat == seat and one.kind == "abbot"), None)
        if abbot is None:  # he is in prison, for example
            return None
        is_scored_anyway = is_about_to_be_scored(state, rules, abbot)
        can_come_home = not is_scored_anyway or editions.recalls_surrounded_abbot(state.edition)
        return Choice("recall", ((abbot.place,),), "8.3") if can_come_home else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§8.4: Take the abbot back, and award the points of his place; only edition 1 adds bonuses."""
        figure = find_figure(state, move.args[0])
        feature = state.features[find_figure_root(state, figure)]
        awards = [Award(seat, scoring.count_points(state, rules, feature, "recalled"), feature.kind)]
        if editions.pays_bonus_for_recalled_abbot(state.edition):
            for box in rules.hooks["award_bonus"]:
                awards += box.award_bonus(state, rules, feature, "recalled")
        return [AbbotRecalled(figure, tuple(awards))]


BOX = Abbot()
