"""§21, the school, on tiles of our own: a road to it brings the teacher, who doubles the next feature."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.hooks import BoxHooks, Deck, Rules
from engine.games.carcassonne.land import NO_SEAT, get_signs, iter_segments
from engine.games.carcassonne.state import (
    Award,
    FeatureScored,
    Options,
    Part,
    State,
    Task,
    TilePlaced,
    add_note,
    apply_awards,
    can_draw,
    get_field,
    make_getter,
    pop_task,
    push_work,
)
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

RIVER_OPTION = "river"
TEACHER_IN_HAND = 3.0
"""The points that a bot expects of the teacher: about what the next feature brings."""

WEST, EAST = TilePlaced("SH1", "-2,0"), TilePlaced("SH2", "-1,0")


class TeacherAsked(Struct, frozen=True, omit_defaults=True, tag=True):
    """Several features brought different points, and the owner of the teacher chooses one."""

    seat: int


class TeacherPaid(Struct, frozen=True, omit_defaults=True, tag=True):
    """The owner of the teacher got what a feature brought, and the teacher went back to the school."""

    seat: int
    points: int


class TeacherTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat completed a road to the school and took the teacher."""

    seat: int


def get_teacher_owner(state: State) -> int:
    """Return the seat that has the teacher, or `NO_SEAT` (-1) while the teacher is at the school."""
    return int(get_field(state, "teacher"))


get_lesson_points = make_getter("lessons", tuple[int, ...])
"""The points of the features scored in this round, for the owner of the teacher to choose from."""


was_school_road_scored = make_getter("school_road_scored", bool)
"""Whether a road to the school was scored in this turn."""


def apply_teacher_asked(state: State, event: TeacherAsked) -> State:
    return push_work(state, Task("lesson", seats=(event.seat,)))


def apply_teacher_paid(state: State, event: TeacherPaid) -> State:
    """Pay the owner of the teacher, who goes back to the school; no other feature can be chosen any more."""
    state = replace(pop_task(state), teacher=NO_SEAT, lessons=())
    return apply_awards(state, (Award(event.seat, event.points, "teacher"),))


def apply_teacher_taken(state: State, event: TeacherTaken) -> State:
    """Give the teacher to the seat, and note that, so that one tile brings him once."""
    return replace(add_note(state, "school"), teacher=event.seat, school_road_scored=False)


def leads_to_school(state: State, root: int) -> bool:
    """§21.2: Whether a feature is a road that ends at one of the two tiles of the school."""
    if state.features[root].kind != "road":
        return False
    school = [cell for cell in state.tiles if "school" in get_signs(state, cell)]
    return any(segment_root == root for cell in school for _, segment_root in iter_segments(state, cell))


class School(BoxHooks):
    """Two tiles beside the start tile, and a teacher."""

    option = "school"
    about = "The school and its teacher, 2 tiles of our own (§21)"
    state_fields = {"teacher": (int, NO_SEAT), "lessons": (tuple[int, ...], ()), "school_road_scored": (bool, False)}
    view_fields = {"teacher": (int, get_teacher_owner)}
    verbs = ("lesson",)
    tasks = ("lesson",)
    tasks_within_round = ("lesson",)
    events = {
        TeacherAsked: apply_teacher_asked,
        TeacherPaid: apply_teacher_paid,
        TeacherTaken: apply_teacher_taken,
    }
    point_events = {TeacherPaid: "teacher"}

    def objection(self, options: Options) -> Refused | None:
        """§21.1: The school needs a start tile with a road; the spring of the river has none."""
        if getattr(options, RIVER_OPTION):
            return Refused("The school needs a start tile with a road; switch “River” or “School” off.", rule="21.1")
        return None

    def mix_deck(self, deck: Deck) -> Deck:
        """§21.1: Add the two tiles to the left of the start tile; the eastern one is first, as only it touches that."""
        return replace(deck, beside=(*deck.beside, EAST, WEST))

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the teacher is worth to the seat that has him, as long as tiles are left."""
        if get_teacher_owner(state) != seat or not can_draw(state):
            return 0.0
        return TEACHER_IN_HAND

    def remember_score(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """§21.3: Note the points of a feature for the owner of the teacher, and whether it is a road to the school."""
        if event.final:
            return state
        without_bonuses = [award.points for award in event.awards if award.why == event.kind]
        points = max(without_bonuses, default=0)
        if points and get_teacher_owner(state) != NO_SEAT:
            state = replace(state, lessons=(*get_lesson_points(state), points))
        if leads_to_school(state, event.feature):
            state = replace(state, school_road_scored=True)
        return state

    def end_scoring(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§21.4, §21.5: Pay the owner of the teacher, or ask for which feature; after that give the teacher away.

        Each is an event of its own, and the hook is called until none is due. The seat on turn gets the teacher for a
        completed road to the school.
        """
        amounts = set(get_lesson_points(state))
        if len(amounts) > 1:
            return TeacherAsked(get_teacher_owner(state))
        if amounts:
            (points,) = amounts
            return TeacherPaid(get_teacher_owner(state), points)
        if "school" in part.notes:  # this tile has brought a seat the teacher already
            return None
        # A road without figures is not scored, and is still among the completed features.
        is_earned = was_school_road_scored(state) or any(leads_to_school(state, root) for root in part.done)
        return TeacherTaken(state.turn) if is_earned else None

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§21.4: Offer the different points that features brought in this round."""
        amounts = sorted(set(get_lesson_points(state)))
        return (Choice("lesson", tuple((str(points),) for points in amounts), "21.4"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [TeacherPaid(seat, int(move.args[0]))]


BOX = School()
