"""A menu as forms: what can be chosen next, token by token, so that a page without a script can play."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from engine.menu import Choice, Menu, MenuEntry, Move, Number, Subset
from service.text.narration import Narrator

MAX_WHOLE_MOVES = 12


class FormStep(Struct, frozen=True):
    """One thing to choose: it completes a move (`move`), or leads on to more choices (`say`)."""

    label: str
    move: str = ""
    say: str = ""


class FormItem(Struct, frozen=True):
    """An item to tick; `chosen` says that it is ticked already."""

    token: str
    label: str
    chosen: bool


class Offer(Struct, frozen=True):
    """One verb of the menu: steps to choose from, items to tick, or a number to give."""

    verb: str
    label: str
    kind: Literal["steps", "subset", "number"]
    rule: str = ""
    words: tuple[str, ...] = ()  # that are chosen already
    steps: tuple[FormStep, ...] = ()
    items: tuple[FormItem, ...] = ()
    least: int = 0
    most: int = 0


class Turn(Struct, frozen=True):
    """The menu of a seat, and where its forms lead.

    Each form sends its move with the `hidden_fields` to `action`; a choice that is not a whole move yet leads to
    `next_link` with the words chosen so far.
    """

    action: str
    hidden_fields: tuple[tuple[str, str], ...]
    next_link: str
    game: str
    offers: tuple[Offer, ...]
    menu: list[dict[str, object]]  # for the script, as are labels and rules: see ScriptMenu
    labels: dict[str, dict[str, object]]
    rules: dict[str, str]
    chosen: Sequence[str] = ()  # words of a move that are chosen already: the verb, and tokens
    foresee: str = ""  # address of the choices that follow a move; empty where the script does not ask for them
    at_once: bool = False  # whether a whole move is made without being confirmed
    method: Literal["get", "post"] = "post"  # of the forms; a lesson stores nothing

    @property
    def summary(self) -> str:
        """The verbs of the menu in one line."""
        return " · ".join(offer.label for offer in self.offers)


class ScriptMenu(Struct, frozen=True):
    """A menu for the script of the page."""

    menu: list[dict[str, object]]  # the moves
    labels: dict[str, dict[str, object]]  # the words of the moves as people say them, by verb
    rules: dict[str, str]  # the numbers of the paragraphs that allow the moves, by verb


def make_script_menu(menu: Menu, narrator: Narrator) -> ScriptMenu:
    """Make the menu as the script needs it."""
    rules = {entry.verb: entry.rule for entry in menu if entry.rule}
    return ScriptMenu(dump_menu(menu), make_labels(menu, narrator), rules)


def make_turn(
    menu: Menu,
    narrator: Narrator,
    chosen: Sequence[str],
    *,
    action: str,
    hidden_fields: tuple[tuple[str, str], ...],
    next_link: str,
    game: str,
    foresee: str = "",
    at_once: bool = False,
    method: Literal["get", "post"] = "post",
) -> Turn:
    """Make the turn of a seat with this menu, in which these words are chosen already; the others are as in `Turn`."""
    choices = make_script_menu(menu, narrator)
    return Turn(
        action=action,
        hidden_fields=hidden_fields,
        next_link=next_link,
        game=game,
        offers=make_offers(menu, narrator, chosen),
        menu=choices.menu,
        labels=choices.labels,
        rules=choices.rules,
        chosen=chosen,
        foresee=foresee,
        at_once=at_once,
        method=method,
    )


def make_offers(menu: Menu, narrator: Narrator, words: Sequence[str] = ()) -> tuple[Offer, ...]:
    """Return an offer for each verb of the menu; `words`, a verb and tokens, are those that are chosen already."""
    offers = list[Offer]()
    for entry in menu:
        is_chosen = bool(words) and entry.verb == words[0]
        offers.append(_make_offer(entry, narrator, tuple(words[1:]) if is_chosen else ()))
    return tuple(offers)


def can_begin(menu: Menu, words: Sequence[str]) -> bool:
    """Return whether these words are a move of this menu or begin one; of a subset or number the verb is enough."""
    if not words:
        return False
    verb, *tokens = words
    for entry in menu:
        if entry.verb == verb:
            if isinstance(entry, Choice):
                return any(_starts_with(args, tuple(tokens)) for args in entry.options)
            return True
    return False


def _starts_with(args: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    return args[: len(tokens)] == tokens


def _make_offer(entry: MenuEntry, narrator: Narrator, tokens: tuple[str, ...]) -> Offer:
    """Make the offer of one verb, in which these tokens are chosen already."""
    label = narrator.label_verb(entry.verb)
    match entry:
        case Choice():
            words = _label_tokens(entry, narrator)
            chosen = tuple(words.get(token, token) for token in tokens)
            steps = tuple(_iter_steps(entry, words, tokens, label))
            return Offer(entry.verb, label, "steps", entry.rule, words=chosen, steps=steps)
        case Subset(verb, items, least, most, rule):
            ticks = tuple(_iter_ticks(items, narrator, verb, tokens))
            return Offer(verb, label, "subset", rule, items=ticks, least=least, most=most)
        case Number(verb, least, most, rule):
            return Offer(verb, label, "number", rule, words=tokens, least=least, most=most)


def _iter_ticks(items: Sequence[str], narrator: Narrator, verb: str, tokens: tuple[str, ...]) -> Iterator[FormItem]:
    """Yield the items to tick; those chosen so far are ticked, each as often as it was chosen."""
    left_to_tick = Counter(tokens)
    for item in items:
        is_chosen = left_to_tick[item] > 0
        if is_chosen:
            left_to_tick[item] -= 1
        yield FormItem(item, narrator.label_token(verb, item), is_chosen)


def _iter_steps(entry: Choice, words: dict[str, str], tokens: tuple[str, ...], label: str) -> Iterator[FormStep]:
    """Yield the next tokens to choose, or all moves that are left if they are few; `label` is that of the verb.

    If the tokens chosen so far are a move by themselves too, the last step is that move.
    """
    left = [args for args in entry.options if _starts_with(args, tokens)]
    is_move = tokens in left
    if len(left) <= MAX_WHOLE_MOVES and not is_move:
        for args in left:
            remaining = " → ".join(words[token] for token in args[len(tokens) :])
            yield FormStep(remaining, move=str(Move(entry.verb, args)))
        return
    longer = [args for args in left if args != tokens]
    next_tokens = dict.fromkeys(args[len(tokens)] for args in longer)
    for token in next_tokens:
        chosen = (*tokens, token)
        text = str(Move(entry.verb, chosen))
        moves = [args for args in longer if _starts_with(args, chosen)]
        if moves == [chosen]:  # no longer move begins with it
            yield FormStep(words[token], move=text)
        else:
            yield FormStep(words[token], say=text)
    if is_move:
        yield FormStep(label, move=str(Move(entry.verb, tokens)))


def describe_move(move: Move, narrator: Narrator) -> str:
    """Return a whole move as people say it, such as “Travel: Kiev → Moscow”; no colon if one side of it is empty."""
    verb = narrator.label_verb(move.verb)
    tokens = " → ".join(narrator.label_token(move.verb, token) for token in move.args)
    if verb and tokens:
        return f"{verb}{narrator.colon} {tokens}"
    return verb or tokens


def make_labels(menu: Menu, narrator: Narrator) -> dict[str, dict[str, object]]:
    """Return every word of the menu as people say it, verb by verb, for the script."""
    return {
        entry.verb: {"verb": narrator.label_verb(entry.verb), "tokens": _label_tokens(entry, narrator)}
        for entry in menu
    }


def _label_tokens(entry: MenuEntry, narrator: Narrator) -> dict[str, str]:
    """Return all tokens of an entry as people say them; a number has none."""
    tokens: Iterable[str] = ()
    match entry:
        case Choice(_, options):
            tokens = itertools.chain.from_iterable(options)
        case Subset(_, items):
            tokens = items
    labels = {token: narrator.label_token(entry.verb, token) for token in dict.fromkeys(tokens)}
    return _number_doubles(labels)


def _number_doubles(labels: dict[str, str]) -> dict[str, str]:
    """Return the same labels, with numbers where several tokens would have the same one."""
    total, so_far = Counter(labels.values()), Counter[str]()
    numbered = dict[str, str]()
    for token, label in labels.items():
        so_far[label] += 1
        numbered[token] = f"{label} ({so_far[label]})" if total[label] > 1 else label
    return numbered


def dump_menu(menu: Menu) -> list[dict[str, object]]:
    """Dump the menu for the script that lets a click on the board narrow it."""
    return [_dump_entry(entry) for entry in menu]


def _dump_entry(entry: MenuEntry) -> dict[str, object]:
    """Dump one verb of the menu: its options, its items to choose from, or the limits of its number."""
    match entry:
        case Choice(verb, options):
            return {"verb": verb, "options": [list(args) for args in options]}
        case Subset(verb, items, least, most):
            return {"verb": verb, "items": list(items), "least": least, "most": most}
        case Number(verb, least, most):
            return {"verb": verb, "number": True, "least": least, "most": most}
