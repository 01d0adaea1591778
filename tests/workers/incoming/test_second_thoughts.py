"""A move that its sender takes back in the same mail is asked about; friendly words behind a move change nothing."""

from __future__ import annotations

import pytest

from engine import catalogue
from engine.menu import Choice, Move, make_menu
from service.app import App
from service.text import move_words
from tests import apps
from tests.workers.incoming.test_inbox import (
    app,
    deliver,
    last_letter,
    list_answer_kinds,
    list_mailed_moves,
    report,
    start,
    text,
)
from workers.incoming.mail_commands import find_doubt
from workers.incoming.move_parser import parse_move_line

assert app  # the fixture
MENU = (Choice("move", (("A14", "A8"), ("A15", "A9"), ("A9", "Z"))), *make_menu("undo", "resign"))
MOVE, OTHER = Move("move", ("A14", "A8")), Move("move", ("A15", "A9"))
WORDS = move_words.make_vocabulary(catalogue.find("kaiser"), ("Anna Bell", "Berta"))
# What takes a move back; {} is the move.
TAKEN_BACK = r"""
{}. Just kidding, need to think|{} - no, scratch that, I'll write again tonight|{} ... nah|{}. Nope|{}. Wait!
{}, then: no wait, that's wrong. {other}|{}, {other}|{}, or rather: {other}
{}\nHmm, wait.|{}\n\nOn second thought, let me think about it.|{}. Never mind
{}\nI changed my mind|{}\nHold on, I'm not sure.|{}. Forget it.|{}\nDon't play this yet!|{}\nOops, that was wrong
{}\nPlease ignore this, I'll decide tomorrow|{}\nNo!|{}\nNo, no, no|{}. Or maybe not that one|{}. Not yet!
{}\nScratch that|{}. Actually, wait.|{}\nHi Anna,\nI need to think about this one.|{}\nor rather the other one
{}. Grapje!|{}. Geintje :-)|{}\nLaat maar|{}\nNee, wacht|{}. Of toch niet|{} - nee, ik moet nog nadenken
{}\nIk bedenk me, morgen schrijf ik weer|{}. Foutje, wacht even|{}\nNog niet!|{}. Ik twijfel|{}\nVergeet het maar
{}\nHo, wacht|{}. Nee toch niet|{}\nIk denk er nog over na|{}. Klopt niet, sorry
{}. Quatsch, ich überlege noch|{}. Scherz!|{}\nNein, doch nicht|{}. Moment|{}\nHalt, warte|{} - ach nein
{}\nVergiss es, ich melde mich nochmal|{}. Noch nicht!|{}\nIch bin nicht sicher|{}\nIch habe es mir anders überlegt
{}. Nee, lieber nicht|{}\nVertan, das war falsch|{}\nBitte noch nicht spielen|{}. Stopp!|{}\nWarte mal
{}. Non, je plaisante, je réfléchis encore|{}\nNon, attends|{}. Je rigole|{}\nLaisse tomber|{}. Pas encore !
{}\nJ'hésite, je dois réfléchir|{}. Oubliez ça|{}\nFinalement non|{}\nAttends !|{}. J’ai changé d’avis
{}\nErreur, ne joue pas ça, c'est une erreur|{}\nJe ne suis pas sûr|{}. Ou plutôt non|{}\nNon !
"""
# What names another move.
CORRECTED_MAILS = r"""
{}\nsorry, I mean {other}|{}. {other}|{}\nNo, {other}
{} - nee, ik bedoel {other}|{}\nliever toch {other}|{}\nIch meine {other}|{}. Nein: {other}|{}\nplutôt: non, {other}
{}\nje voulais dire {other}
"""
# Friendly words behind a move.
FRIENDLY = r"""
{}\n\nGood luck!|{}\nSorry for the wait!|{}\nThanks for waiting|{}. No hurry!|{}\nNo rush, enjoy your holiday
{}\nNo problem, take your time|{}\nNot bad, Anna!|{}\nNice move, didn't see that coming|{}\nWhy not?
{}\nThat was a hard one. I had to think for days.|{}\nI can't wait to see what you do|{}\nWhat could go wrong?
{}\nI never win this game|{}\nNever give up!|{}. Your turn, Anna|{}\nSee you tomorrow|{} :-)|{} ;)|{}\n\nCheers,\nBob
{}\nIt's raining here, no sun for a week|{}\nDon't be too hard on me|{}\nI don't know what to say. Great game!
{}\nIs that allowed?|{}\nNo worries|{}\nThat's not fair ;)|{}\nWell, it's only a game|{}\nStop laughing, Anna!
{}\nI think this is good|{}\nWe should meet again soon, not only by mail|{}\nsay I need to think about the next one
{}\nGeen probleem|{}\nGeen haast hoor|{}\nSorry voor het wachten|{}\nNiet slecht, Berta!|{}\nNog een fijne avond
{}\nDat had je niet verwacht|{}\nNiet boos zijn|{}\nTot morgen!|{}\nSucces nog!|{}. Veel plezier|{}\nToch leuk spel
{}\nIk kan niet wachten|{}\nJe hebt toch gewonnen|{}\nNog lang niet verloren|{}\nWacht maar!
{}\nKein Problem|{}\nKeine Eile|{}\nDanke fürs Warten|{}\nNicht schlecht, Anna!|{}\nNoch einen schönen Abend
{}\nDas hast du nicht erwartet|{}\nDa kann man nichts machen|{}\nBis morgen!|{}\nIch gebe noch nicht auf
{}\nNa warte!|{}\nLange überlegt, aber jetzt bin ich mir sicher|{}\nViel Glück noch|{}\nIch kann es kaum erwarten
{}\nWir haben noch nicht verloren|{}\nIst doch klar|{}\nNicht so wild|{}\nMir fällt nichts Besseres ein
{}\nPas de souci|{}\nPas mal, Anna !|{}\nPrenez votre temps|{}\nDésolé pour l'attente|{}\nBonne soirée
{}\nTu ne t'y attendais pas|{}\nSans rancune|{}\nJe n'ai pas dit mon dernier mot|{}\nÀ demain|{}\nEncore merci
{}\nJamais deux sans trois|{}\nCe n'est pas fini|{}\nPlutôt sympa, ce jeu|{}\nPourquoi pas ?|{}\nPas le choix
{} LG Anna|{}  --  Anna|{} (sorry for the wait)|{}, please|{}, merci|{}. Nice weather|{}! Hope that works
{}\nBest\nBob|{}\n\nMuchas gracias por esperar, un abrazo a todos|Sorry, I was not at home.\n{}\nBye
I changed my mind yesterday:\n{}\nBye|I had to think about it.\n{}|Wait, it's my turn!\n{}|No, I'm still here.\n{}
"""


def split(corpus: str) -> list[str]:
    return [mail.replace("\\n", "\n") for row in corpus.strip().splitlines() for mail in row.split("|")]


def parse_mail(mail: str, move: str) -> tuple[Move | None, Move | None]:
    """The move that a mail makes, and the move that its sender is asked about."""
    lines = [line for line in mail.format(move, other="A15 A9").split("\n") if line]
    for place, line in enumerate(lines):
        meaning = parse_move_line(line, MENU, WORDS)
        if isinstance(meaning, Move):
            doubt = find_doubt(line, lines[place + 1 :], meaning, MENU, WORDS)
            return (None, doubt.move) if doubt else (meaning, None)
        if hasattr(meaning, "move"):
            return None, meaning.move
    return None, None


FORMS = ("move A14 A8", "A14 A8", "ziehe A14 nach A8")


@pytest.mark.parametrize("mail", split(TAKEN_BACK))
def test_a_move_that_is_taken_back_in_the_same_mail_is_not_played(mail: str) -> None:
    assert [parse_mail(mail, move)[0] for move in FORMS] == [None] * len(FORMS)


@pytest.mark.parametrize("mail", split(CORRECTED_MAILS))
def test_of_two_moves_the_last_one_is_asked_about(mail: str) -> None:
    assert [parse_mail(mail, move) for move in FORMS] == [(None, OTHER)] * len(FORMS)


@pytest.mark.parametrize("mail", split(FRIENDLY))
def test_friendly_words_around_a_move_do_not_stop_it(mail: str) -> None:
    assert [parse_mail(mail, move) for move in FORMS] == [(MOVE, None)] * len(FORMS)


QUOTED_MAILS = ('Last time I wrote "{}" and it was refused, why?', "Last time I wrote {} and it was refused. Why?")


@pytest.mark.parametrize("mail", QUOTED_MAILS)
def test_a_move_that_is_only_quoted_is_not_played(mail: str) -> None:
    assert parse_mail(mail, "move A14 A8")[0] is None


def test_the_sender_is_asked_and_one_word_plays_the_move(app: App) -> None:
    place, _, move = start(app)
    deliver(app, place, f"{move}. Just kidding, need to think")
    assert (list_mailed_moves(app), list_answer_kinds(app)) == ([], ["refused"])
    assert "Your answer also says “Just kidding, need to think”, so it was not played." in text(last_letter(app, place))
    assert "Did you mean this? Then answer with one word: yes" in text(last_letter(app, place))
    deliver(app, place, "yes")
    assert list_mailed_moves(app) == [move]


def test_of_two_moves_on_lines_of_their_own_none_is_played_if_only_one_is_possible(app: App) -> None:
    place, _, _ = start(app)
    first, second = (one for one in apps.list_moves(app, place)[:2])
    before = apps.count_entries(app, place)
    deliver(app, place, first, second)
    assert (list_mailed_moves(app), apps.count_entries(app, place)) == ([], before)
    assert report(app) == [(second, "refused")]
    deliver(app, place, "yes")
    assert list_mailed_moves(app) == [second]


def test_moves_that_follow_each_other_are_all_played(app: App) -> None:
    place, _, move = start(app)
    deliver(app, place, move, "undo")
    assert [outcome for _, outcome in report(app)] == ["done", "done"]
