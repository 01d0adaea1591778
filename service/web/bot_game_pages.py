"""A game against bots: a name, how many of them, and the board."""

from __future__ import annotations

import secrets

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as Reply

from engine.game import objection
from engine.refusal import Refused
from service.tables import opening
from service.tables.opening import Invited
from service.web.account_pages import visitor
from service.web.lobby_pages import game_of, level
from service.web.rendering import get_app, language, page

bot_game = Blueprint("bot_game", __name__)


@bot_game.get("/play/<name>")
def ask(name: str) -> Response:
    """The short form."""
    return _form(name, None, 200)


@bot_game.post("/play/<name>")
def play(name: str) -> Reply:
    """Open the table, sit down, and go to the board."""
    form = request.form
    try:
        if int(form.get("bots", "0")) not in _choices(name):
            raise Refused("Please choose how many bots play.")
        me = Invited(form.get("name", ""), form.get("address", ""), secrets.token_hex(8), "person")
        bots = [Invited(f"Bot {number + 1}", level=level(form.get("level", ""))) for number in range(int(form["bots"]))]
        once, signed_in = form.get("key", "")[:80], visitor()
        opener = signed_in.id if signed_in else None
        opened = opening.open_table(get_app(), name, {}, [me, *bots], 0, language(), once, opener=opener)
    except (Refused, ValueError) as error:
        refused = error if isinstance(error, Refused) else Refused("Please choose how many bots play.")
        return _form(name, refused, 422)
    return redirect(url_for("table.show", link=opened.links[0]), 303)


def _choices(name: str) -> list[int]:
    """The numbers of bots that this game allows with its default options."""
    game = game_of(name)
    options = game.META.options()
    return [seats - 1 for seats in game.META.seats if seats > 1 and not objection(game, options, seats)]


def _form(name: str, error: Refused | None, status: int) -> Response:
    key = request.form.get("key") or secrets.token_hex(16)
    game, form = game_of(name).META, {**_own(), **request.values}
    return page("play.html", status, game=game, choices=_choices(name), form=form, error=error, key=key)


def _own() -> dict[str, str]:
    """Name and address of who has signed in on this device, so that they need not be typed."""
    person = visitor()
    return {"name": person.name, "address": person.address} if person else {}
