"""§21, the school, on tiles of our own: whoever completes a road to it is taught by the next feature that is scored."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.expansion import Box, Deck, Rules
from engine.games.carcassonne.land import segments_at, signs_at
from engine.games.carcassonne.state import (
    Award,
    Errand,
    FeatureScored,
    Options,
    Part,
    State,
    TilePlaced,
    awarded,
    drawable,
    on_top,
    part_of,
    slot,
)
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

NOBODY = -1
ELSEWHERE = "river"
WEST, EAST = TilePlaced("SH1", "-2,0"), TilePlaced("SH2", "-1,0")


class TeacherAsked(Struct, frozen=True, omit_defaults=True, tag=True):
    """Several features brought different points, and the pupil of the teacher chooses one."""

    seat: int


class TeacherPaid(Struct, frozen=True, omit_defaults=True, tag=True):
    """The owner of the teacher gets what a feature brought; the teacher goes back to the school."""

    seat: int
    points: int


class TeacherTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """A road to the school was completed, and the teacher goes to whoever did that."""

    seat: int


def teacher(state: State) -> int:
    """The seat that has the teacher, or -1 while the teacher is at the school."""
    return int(slot(state, "teacher"))


def lessons(state: State) -> tuple[int, ...]:
    """What the features scored in this round brought, while somebody has the teacher."""
    points: tuple[int, ...] = slot(state, "lessons")
    return points


def asked(state: State, event: TeacherAsked) -> State:
    return replace(state, work=(*state.work, Errand("lesson", seats=(event.seat,))))


def paid(state: State, event: TeacherPaid) -> State:
    work = state.work[:-1] if isinstance(state.work[-1], Errand) else state.work
    state = replace(state, work=work, teacher=NOBODY, lessons=())
    return awarded(state, (Award(event.seat, event.points, "teacher"),))


def taken(state: State, event: TeacherTaken) -> State:
    part = part_of(state)
    part = replace(part, notes=(*part.notes, "school"))
    return replace(state, teacher=event.seat, schooled=False, work=on_top(state, part))


def leads_to_school(state: State, root: int) -> bool:
    """§21.2: whether a road ends at one of the two tiles of the school."""
    if state.features[root].kind != "road":
        return False
    school = [cell for cell in state.tiles if "school" in signs_at(state, cell)]
    return any(there == root for cell in school for _, there in segments_at(state, cell))


LESSON = 3.0
"""What the teacher is worth to a bot: about what the next feature brings."""


class School(Box):
    """Two tiles beside the start tile, and a teacher."""

    option = "school"
    about = "The school and its teacher, 2 tiles of our own (§21)"
    slots = {"teacher": (int, NOBODY), "lessons": (tuple[int, ...], ()), "schooled": (bool, False)}
    shows = {"teacher": (int, teacher)}
    verbs = ("lesson",)
    steps = ("lesson",)
    inside = ("lesson",)
    events = {TeacherAsked: asked, TeacherPaid: paid, TeacherTaken: taken}
    paying = {TeacherPaid: "teacher"}

    def objection(self, options: Options) -> Refused | None:
        """§21.1: the school lies beside a road of the start tile, and the spring has none."""
        if getattr(options, ELSEWHERE):
            return Refused("The school needs a start tile with a road; switch “river” or “school” off.", rule="21.1")
        return None

    def deck(self, deck: Deck) -> Deck:
        return replace(deck, beside=(*deck.beside, EAST, WEST))

    def promise(self, state: State, rules: Rules, seat: int) -> float:
        return LESSON if teacher(state) == seat and drawable(state) else 0.0

    def scored(self, state: State, rules: Rules, event: FeatureScored) -> State:
        """§21.3: what a feature brings is remembered, and whether it led to the school."""
        if event.final:
            return state
        points = max((award.points for award in event.awards if award.why == event.kind), default=0)
        if points and teacher(state) != NOBODY:
            state = replace(state, lessons=(*lessons(state), points))
        return replace(state, schooled=True) if leads_to_school(state, event.feature) else state

    def after_features(self, state: State, rules: Rules, part: Part, chance: Chance) -> Struct | None:
        """§21.4, §21.5: the old owner is paid, then the teacher goes to whoever completed a road to the school."""
        amounts = set(lessons(state))
        if len(amounts) > 1:
            return TeacherAsked(teacher(state))
        if amounts:
            return TeacherPaid(teacher(state), amounts.pop())
        done = slot(state, "schooled") or any(leads_to_school(state, root) for root in part.done)
        return TeacherTaken(state.turn) if done and "school" not in part.notes else None

    def menu(self, state: State, rules: Rules, seat: int, errand: Errand) -> Menu:
        return (Choice("lesson", tuple((str(points),) for points in sorted(set(lessons(state)))), "21.4"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        return [TeacherPaid(seat, int(move.args[0]))]


BOX = School()
