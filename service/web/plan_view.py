"""A plan on the board: standing orders at the table, or the moves of a branch of what if, each with a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flask import url_for
from msgspec import Struct
from msgspec.structs import replace

from engine.menu import Move
from service.tables.branch_orders import OrdersOfBranch
from service.tables.branches import Branch, find_previous_step
from service.text.drawing import Player
from service.text.languages import Sentence, translate
from service.text.narration import Narrator
from service.web.menu_forms import describe_move
from service.web.rendering import get_language

MAKE_EARLIER, MAKE_LATER, TAKE_OUT = Sentence("Earlier"), Sentence("Later"), Sentence("Take out")
BRANCH_EARLIER, BRANCH_LATER = Sentence("Branch earlier"), Sentence("Branch later")
TO_BRANCH = Sentence("To the branch of {number}")
CANCEL, CHANGE, GO_HERE = Sentence("Cancel"), Sentence("Change"), Sentence("Go here")
IF_PLAYED = Sentence("If {who} plays “{move}”")
AFTER_A_MOVE = Sentence("After a move of {who}")
ALWAYS = Sentence("As soon as it is possible")
Fields = tuple[tuple[str, str], ...]


class PlanButton(Struct, frozen=True):
    """A button that changes the plan: a form with these fields, or a link if it has none."""

    label: str
    action: str
    fields: Fields = ()


class PlanStep(Struct, frozen=True):
    """A move of a plan. Moves of one `group` follow from each other; `before` are moves of others that come first."""

    number: int
    seat: int
    player: Player
    text: str
    move: str  # as the menu writes it, for the script
    condition: str = ""
    before: tuple[str, ...] = ()
    group: str = ""
    is_done: bool = False
    is_current: bool = False
    buttons: tuple[PlanButton, ...] = ()


class OrderPlanner(Struct, frozen=True):
    """Makes a plan of the standing orders of one seat; `hidden` are the fields of each form of the table."""

    link: str
    players: Sequence[Player]
    seat: int
    narrator: Narrator
    hidden: Fields

    def list_steps(self, rows: Sequence[Any], of_branches: Sequence[OrdersOfBranch]) -> tuple[PlanStep, ...]:
        """List the orders in the order in which they are tried."""
        plain, live = [row for row in rows if not row.after], [one for one in of_branches if not one.never_hold]
        ids = sorted([*(row.id for row in plain), *(order.id for one in live for order in one.orders)])
        numbers = {order: number for number, order in enumerate(ids, 1)}
        steps = dict((*self._list_plain(plain), *self._list_conditional(live, numbers)))
        return tuple(replace(steps[order], number=number) for order, number in numbers.items())

    def _list_plain(self, rows: Sequence[Any]) -> Iterator[tuple[int, PlanStep]]:
        for place, row in enumerate(rows):
            earlier = [self._make_sooner(MAKE_EARLIER, row.id)] if place else []
            later = [self._make_sooner(MAKE_LATER, one.id) for one in rows[place + 1 : place + 2]]
            buttons = (*earlier, *later, self._make_cancel(row.id))
            player, condition = self.players[self.seat], _say(ALWAYS)
            yield row.id, PlanStep(0, self.seat, player, row.move, row.move, condition, buttons=buttons)

    def _list_conditional(
        self, of_branches: Sequence[OrdersOfBranch], numbers: dict[int, int]
    ) -> Iterator[tuple[int, PlanStep]]:
        for place, one in enumerate(of_branches):
            address = url_for("whatif.show", link=self.link, number=one.number)
            change = (PlanButton(_say(CHANGE), address),) if one.branch else ()
            exchange = tuple(self._list_exchanges(of_branches, place))
            for order in one.orders:
                yield (
                    order.id,
                    PlanStep(
                        number=0,
                        seat=self.seat,
                        player=self.players[self.seat],
                        text=_describe(order.move, self.narrator),
                        move=order.move,
                        condition=", ".join(self._describe_condition(seat, move) for seat, move in order.given),
                        before=tuple(move for _, move in order.given if move),
                        group=str(one.number),
                        buttons=(
                            *change,
                            *exchange,
                            *self._list_targets(of_branches, one, order.id, numbers),
                            self._make_cancel(order.id),
                        ),
                    ),
                )

    def _describe_condition(self, seat: int, move: str | None) -> str:
        who = self.players[seat].name
        if not move:
            return _say(AFTER_A_MOVE, who=who)
        return _say(IF_PLAYED, who=who, move=_describe(move, self.narrator))

    def _list_exchanges(self, of_branches: Sequence[OrdersOfBranch], place: int) -> Iterator[PlanButton]:
        """Yield what tries this branch earlier or later: it is later if the next one is earlier."""
        for label, earlier in ((BRANCH_EARLIER, place), (BRANCH_LATER, place + 1)):
            if 0 < earlier < len(of_branches):
                number = of_branches[earlier].number
                action = url_for("seat.move_branch_up", link=self.link, number=number)
                yield PlanButton(_say(label), action, self.hidden)

    def _list_targets(
        self, of_branches: Sequence[OrdersOfBranch], source: OrdersOfBranch, order: int, numbers: dict[int, int]
    ) -> Iterator[PlanButton]:
        """Yield the other branches to which an order can be moved."""
        for one in of_branches if source.branch else ():
            if one is not source and one.branch:
                label = _say(TO_BRANCH, number=str(numbers[one.orders[0].id]))
                action = url_for("seat.move_order_to_branch", link=self.link, number=order, branch=one.number)
                yield PlanButton(label, action, self.hidden)

    def _make_sooner(self, label: Sentence, order: int) -> PlanButton:
        return PlanButton(_say(label), url_for("seat.move_order_up", link=self.link, number=order), self.hidden)

    def _make_cancel(self, order: int) -> PlanButton:
        fields = (*self.hidden, ("verb", "cancel"), ("arg", str(order)))
        return PlanButton(_say(CANCEL), url_for("table.show", link=self.link), fields)


def list_branch_steps(
    link: str, branch: Branch, players: Sequence[Player], narrator: Narrator, length: int, step: int
) -> tuple[PlanStep, ...]:
    """List the moves of a branch that are possible, as a page shows them that is at one step of it."""
    return tuple(
        PlanStep(
            number=number,
            seat=seat,
            player=players[seat],
            text=_describe(move, narrator),
            move=move,
            is_done=number <= step,
            is_current=number == step,
            buttons=tuple(_list_branch_buttons(link, branch, number, length)),
        )
        for number, (seat, move) in enumerate(branch.moves[:length], 1)
    )


def _list_branch_buttons(link: str, branch: Branch, number: int, length: int) -> Iterator[PlanButton]:
    """Yield what can be done with a move. “Later” moves the next own move of its seat in front of this one."""

    def make_button(label: Sentence, view: str, step: int) -> PlanButton:
        action = url_for(f"whatif.{view}", link=link, number=branch.id)
        return PlanButton(_say(label), action, (("step", str(step)),))

    yield PlanButton(_say(GO_HERE), url_for("whatif.show", link=link, number=branch.id, step=number))
    if find_previous_step(branch.moves, number):
        yield make_button(MAKE_EARLIER, "move_sooner", number)
    for later in range(number + 1, length + 1):
        if find_previous_step(branch.moves, later) == number:
            yield make_button(MAKE_LATER, "move_sooner", later)
    yield make_button(TAKE_OUT, "take_out", number)


def _describe(move: str, narrator: Narrator) -> str:
    """Return the places of a move as people say them; a move without any in words."""
    whole = Move.parse(move)
    tokens = " → ".join(narrator.label_token(whole.verb, token) for token in whole.args)
    return tokens or describe_move(whole, narrator)


def _say(sentence: Sentence, **values: str) -> str:
    return translate(get_language(), Sentence(sentence.sentence, dict(values)))
