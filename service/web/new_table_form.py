"""Reads the form for a new table: options of the game, players, time, and how the table is seen."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from engine.options import describe
from engine.refusal import Refused
from service.numbers import parse_int
from service.settings import DAY_S, LUCK_CHOICES
from service.tables import opening
from service.tables.opening import ChanceSource, Invitee, Strength
from service.timing import HOUR_S, Clock
from service.web import guest_list
from service.web.lobby_pages import find_game

PACES = {"1": DAY_S, "3": 3 * DAY_S, "7": 7 * DAY_S, "0": 0}  # seconds for each move; 0 is no limit
DEFAULT_PACE_S = 3 * DAY_S
MAX_BANK_DAYS, MAX_INCREMENT_HOURS, MAX_GRACE_HOURS, MAX_MISSED_DEADLINES = 365, 720, 168, 20  # as in new_table.html
LATE_CHOICES = ("move", "seat", "resign", "skip")
MAX_QUOTED_CHARS = 20  # of a wrong number that a refusal repeats


def parse_options(name: str, form: Mapping[str, str]) -> dict[str, str]:
    """Return the chosen options of the game; a checkbox that the form showed and did not send is off."""
    chosen = dict[str, str]()
    for option in describe(find_game(name).META.options):
        sent = form.get(f"option.{option.name}", "")
        if option.kind == "switch" and form.get(f"asked.{option.name}"):
            chosen[option.name] = "on" if sent else "off"
        elif sent:
            chosen[option.name] = sent
    return chosen


def parse_chance_source(form: Mapping[str, str]) -> ChanceSource:
    """Return where the dice come from; empty, which means the server's default, if the form does not say."""
    luck: Any = form.get("luck", "")
    return luck if luck in LUCK_CHOICES else ""


def parse_guests(form: Mapping[str, str]) -> list[Invitee]:
    """Return the guests of the form, checked; the organiser comes first and sits down at once."""
    name, address = form.get("name", "").strip(), form.get("address", "").strip()
    if address and not name:
        name = guest_list.suggest_name(address)
    organiser = Invitee(name, address, who="person")
    others = guest_list.parse(form.get("players", ""))
    if not others:
        raise Refused("Who plays with you? Please type an e-mail address, or add a bot.")
    if address:
        others = [one for one in others if one.address.casefold() != address.casefold()]
    guests = opening.check_guests([organiser, *others])
    return opening.seat_first_person(guests, form.get("nonce", "").strip() or secrets.token_hex(8))


def parse_clock(form: Mapping[str, str]) -> Clock:
    """Return how time is kept; a bank of time replaces the time for each move."""
    bank = _parse_number(form, "bank", most=MAX_BANK_DAYS) * DAY_S
    late: Any = form.get("late", "")
    return Clock(
        pace=0 if bank else PACES.get(form.get("pace", ""), DEFAULT_PACE_S),
        bank=bank,
        increment=_parse_number(form, "increment", most=MAX_INCREMENT_HOURS) * HOUR_S,
        grace=_parse_number(form, "grace", most=MAX_GRACE_HOURS) * HOUR_S,
        late=late if late in LATE_CHOICES else "move",
        offer_after=_parse_number(form, "offer_after", most=MAX_MISSED_DEADLINES),
        spare_weekends=bool(form.get("spare_weekends")),
        automatic=bool(form.get("automatic")),
        hints=bool(form.get("hints")),
    )


def _parse_number(form: Mapping[str, str], name: str, *, most: int) -> int:
    """Parse a whole number from 0 to `most` in a field of the form; empty is 0. Raise Refused for all else."""
    text = form.get(name, "").strip()
    if not text:
        return 0
    number = parse_int(text, most)
    if number is None:
        quoted = text[:MAX_QUOTED_CHARS]
        raise Refused("Please give a whole number from 0 to {most}, not “{text}”.", most=most, text=quoted)
    return number


def is_watched(form: Mapping[str, str]) -> bool:
    """Return whether spectators are allowed: the box is ticked, or the form that was sent does not have it."""
    return bool(form.get("watched")) or not form.get("asked.watched")


def parse_level(text: str) -> Strength:
    """Return the level of a bot that a form names; empty, which means normal, if it names none."""
    match text:
        case "easy" | "normal" | "strong":
            return text
    return ""
