"""A plan on the board: standing orders at the table, or the moves of a branch of what if, each with a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import url_for
from msgspec import Struct

from engine.menu import Move
from service.tables.branch_orders import OrdersOfBranch
from service.tables.branches import Branch, find_previous_step
from service.text.drawing import Player
from service.text.languages import Sentence, translate
from service.text.narration import Narrator
from service.web.current_request import get_language
from service.web.menu_forms import describe_move

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
    """A move of a plan."""

    number: int
    seat: int
    player: Player
    text: str
    move: str  # as the menu writes it, for the script
    condition: str = ""  # in words: when an order is carried out; empty for a move of a branch
    before: tuple[str, ...] = ()  # the moves of others that come first, as far as they are not hidden
    group: str = ""  # number of the branch that the order was made from; empty if it was made from none
    is_done: bool = False
    is_current: bool = False  # whether the page shows the position after it
    buttons: tuple[PlanButton, ...] = ()


class OrderPlanner(Struct, frozen=True):
    """Makes a plan of the standing orders of one seat; its forms send the `hidden_fields` too."""

    link: str
    players: Sequence[Player]
    seat: int
    narrator: Narrator
    hidden_fields: Fields

    def list_steps(self, rows: Sequence[Any], orders_of_branches: Sequence[OrdersOfBranch]) -> tuple[PlanStep, ...]:
        """List the orders in the order in which they are tried, without those that can never hold."""
        unconditional = [row for row in rows if not row.after]
        possible = [branch_orders for branch_orders in orders_of_branches if branch_orders.can_hold]
        ids = [row.id for row in unconditional]
        ids += [order.id for branch_orders in possible for order in branch_orders.orders]
        numbers = {order: number for number, order in enumerate(sorted(ids), 1)}  # a lower id is tried earlier
        steps = (*self._list_unconditional(unconditional, numbers), *self._list_conditional(possible, numbers))
        return tuple(sorted(steps, key=lambda step: step.number))

    def _list_unconditional(self, rows: Sequence[Any], numbers: Mapping[int, int]) -> Iterator[PlanStep]:
        """Yield the orders that are carried out as soon as they are possible, with buttons to change their order."""
        for index, row in enumerate(rows):
            buttons = list[PlanButton]()
            if index > 0:
                buttons.append(self._make_order_button(MAKE_EARLIER, row.id))
            if index < len(rows) - 1:  # it is later once the next one is earlier
                buttons.append(self._make_order_button(MAKE_LATER, rows[index + 1].id))
            yield PlanStep(
                number=numbers[row.id],
                seat=self.seat,
                player=self.players[self.seat],
                text=row.move,
                move=row.move,
                condition=_say(ALWAYS),
                buttons=(*buttons, self._make_cancel_button(row.id)),
            )

    def _list_conditional(
        self, orders_of_branches: Sequence[OrdersOfBranch], numbers: Mapping[int, int]
    ) -> Iterator[PlanStep]:
        """Yield the orders that were made from branches, which wait for moves of others."""
        for index, branch_orders in enumerate(orders_of_branches):
            branch_buttons = tuple(self._list_branch_buttons(orders_of_branches, index))
            for order in branch_orders.orders:
                target_buttons = self._list_target_buttons(orders_of_branches, branch_orders, order.id, numbers)
                yield PlanStep(
                    number=numbers[order.id],
                    seat=self.seat,
                    player=self.players[self.seat],
                    text=_describe(order.move, self.narrator),
                    move=order.move,
                    condition=", ".join(self._describe_condition(seat, move) for seat, move in order.given),
                    before=tuple(move for _, move in order.given if move is not None),  # None if partly hidden
                    group=str(branch_orders.number),
                    buttons=(*branch_buttons, *target_buttons, self._make_cancel_button(order.id)),
                )

    def _describe_condition(self, seat: int, move: str | None) -> str:
        """Say what a player has to do before an order; None is any move, because part of it is hidden."""
        who = self.players[seat].name
        if move is None:
            return _say(AFTER_A_MOVE, who=who)
        return _say(IF_PLAYED, who=who, move=_describe(move, self.narrator))

    def _list_branch_buttons(self, orders_of_branches: Sequence[OrdersOfBranch], index: int) -> Iterator[PlanButton]:
        """Yield the buttons that open a branch, if it was not deleted, and that try it earlier or later than others."""
        branch_orders = orders_of_branches[index]
        if branch_orders.branch is not None:
            yield PlanButton(_say(CHANGE), url_for("whatif.show", link=self.link, number=branch_orders.number))
        if index > 0:
            yield self._make_branch_button(BRANCH_EARLIER, branch_orders.number)
        if index < len(orders_of_branches) - 1:  # to try this one later, the next one is moved before it
            yield self._make_branch_button(BRANCH_LATER, orders_of_branches[index + 1].number)

    def _list_target_buttons(
        self,
        orders_of_branches: Sequence[OrdersOfBranch],
        source: OrdersOfBranch,
        order: int,
        numbers: Mapping[int, int],
    ) -> Iterator[PlanButton]:
        """Yield the buttons that move an order to another branch, which is called by the number of its first order.

        No order can be moved from or to a branch that was deleted.
        """
        if source.branch is None:
            return
        for target in orders_of_branches:
            if target is not source and target.branch is not None:
                label = _say(TO_BRANCH, number=str(numbers[target.orders[0].id]))
                action = url_for("seat.move_order_to_branch", link=self.link, number=order, branch=target.number)
                yield PlanButton(label, action, self.hidden_fields)

    def _make_order_button(self, label: Sentence, order: int) -> PlanButton:
        """Make the button that tries an order before the one in front of it."""
        return PlanButton(_say(label), url_for("seat.move_order_up", link=self.link, number=order), self.hidden_fields)

    def _make_branch_button(self, label: Sentence, branch: int) -> PlanButton:
        """Make the button that tries the orders of a branch before those of the branch in front of it."""
        address = url_for("seat.move_branch_up", link=self.link, number=branch)
        return PlanButton(_say(label), address, self.hidden_fields)

    def _make_cancel_button(self, order: int) -> PlanButton:
        fields = (*self.hidden_fields, ("verb", "cancel"), ("arg", str(order)))
        return PlanButton(_say(CANCEL), url_for("table.show", link=self.link), fields)


def list_branch_steps(
    link: str, branch: Branch, players: Sequence[Player], narrator: Narrator, length: int, step: int
) -> tuple[PlanStep, ...]:
    """List the moves of a branch that are possible, its first `length`; the page shows the position after `step`."""
    return tuple(
        PlanStep(
            number=number,
            seat=seat,
            player=players[seat],
            text=_describe(move, narrator),
            move=move,
            is_done=number <= step,
            is_current=number == step,
            buttons=tuple(_list_move_buttons(link, branch, number, length)),
        )
        for number, (seat, move) in enumerate(branch.moves[:length], 1)
    )


def _list_move_buttons(link: str, branch: Branch, number: int, length: int) -> Iterator[PlanButton]:
    """Yield the buttons of a move; “Earlier” and “Later” exchange it with the previous and next move of its seat."""

    def make_button(label: Sentence, view: str, step: int) -> PlanButton:
        action = url_for(f"whatif.{view}", link=link, number=branch.id)
        return PlanButton(_say(label), action, (("step", str(step)),))

    yield PlanButton(_say(GO_HERE), url_for("whatif.show", link=link, number=branch.id, step=number))
    has_earlier_move = find_previous_step(branch.moves, number) > 0
    if has_earlier_move:
        yield make_button(MAKE_EARLIER, "move_sooner", number)
    for later in range(number + 1, length + 1):
        if find_previous_step(branch.moves, later) == number:  # the next move of the seat becomes earlier
            yield make_button(MAKE_LATER, "move_sooner", later)
    yield make_button(TAKE_OUT, "take_out", number)


def _describe(move: str, narrator: Narrator) -> str:
    """Return the places of a move as people say them; a move without any in words."""
    whole = Move.parse(move)
    tokens = " → ".join(narrator.label_token(whole.verb, token) for token in whole.args)
    return tokens or describe_move(whole, narrator)


def _say(sentence: Sentence, **values: str) -> str:
    """Translate a sentence, with these values in it."""
    return translate(get_language(), Sentence(sentence.sentence, dict(values)))
