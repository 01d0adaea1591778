"""§25, King and Robber Baron: two titles for the largest city and the longest road, paid at the end."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Rules
from engine.games.carcassonne.scoring import count_tiles
from engine.games.carcassonne.state import Award, State, get_setting, make_getter

KING, ROBBER_BARON = "king", "baron"
TITLES = {"city": KING, "road": ROBBER_BARON}
"""The title that is held for the largest feature of a kind."""

Titles = dict[str, tuple[int, int]]
"""The seat that holds each title, and the number of tiles that it holds it for."""


class TitleTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat completed the largest city or the longest road so far."""

    seat: int
    title: str
    tiles: int


get_titles = make_getter("titles", Titles)
"""The titles that are held."""


def apply_title_taken(state: State, event: TitleTaken) -> State:
    return replace(state, titles={**get_titles(state), event.title: (event.seat, event.tiles)})


def count_complete(state: State, kind: str) -> int:
    """Count the completed features of a kind, occupied or not."""
    return sum(feature.kind == kind and not feature.open for feature in state.features.values())


class KingRobber(BoxHooks):
    """The king and the robber baron."""

    option = "king_robber"
    title = "King & Robber Baron"
    about = "The king of the largest city and the baron of the longest road, 5 tiles (§25)"
    state_fields = {"titles": (Titles, {})}
    view_fields = {"titles": (Titles, get_titles)}
    events = {TitleTaken: apply_title_taken}

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> TitleTaken | None:
        """§25.2: Give the title to the seat on turn if it completed a larger feature than its holder."""
        feature = state.features[root]
        title = TITLES.get(feature.kind)
        if title is None:
            return None
        _, largest = get_titles(state).get(title, (0, 0))
        tiles = count_tiles(state, rules, feature)
        return TitleTaken(state.turn, title, tiles) if tiles > largest else None

    def award_at_end(self, state: State, rules: Rules) -> tuple[Award, ...]:
        """§25.3: Pay the king a point for each completed city on the table, the baron for each completed road."""
        holders = {title: seat for title, (seat, _) in get_titles(state).items()}
        carcassonne = int(get_setting(state, "count"))  # with the count it is one more city
        counts = {"city": count_complete(state, "city") + carcassonne, "road": count_complete(state, "road")}
        return tuple(Award(holders[title], counts[kind], title) for kind, title in TITLES.items() if title in holders)


BOX = KingRobber()
