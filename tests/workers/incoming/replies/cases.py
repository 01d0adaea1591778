"""The replies of the corpus: who wrote what in which program, and what has to come of it.

`python -m tests.workers.incoming.replies.make` writes them into this folder as mails, byte for byte as they come over
the wire.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from tests.workers.incoming.replies import clients
from tests.workers.incoming.replies.clients import Body, make_multipart, plain


class Position(Struct, frozen=True):
    """The table a reply is about: a new one, whose seed is so many equal bytes, with Anna on turn."""

    seed: int
    answer: str
    hints: str


POSITIONS = {
    "kaiser": Position(
        1,
        "play+00000000000003e9.0.bkzyfbeoeql42onoizbzmojqqm@games.example",
        "  move A11 A5, A6\n  move A12 A4, A8, D5, D10\n  move A10 A3, A8, B6",
    ),
    "kurier": Position(
        1,
        "play+00000000000003e9.0.bkzyfbeoeql42onoizbzmojqqm@games.example",
        "  deploy cossack Baikal-Bar, Taiga-Taverne, Wolga-Wirtshaus\n  flip",
    ),
    "turfmaster": Position(
        2,
        "play+00000000000007d1.0.pkiyoz5sshh3buwvkuzamgnms4@games.example",
        "  play 3 A4\n  play 8 A9, B9\n  play 9 stay\n  bonus horse1, horse2",
    ),
    "carcassonne": Position(
        1,
        "play+00000000000003e9.0.bkzyfbeoeql42onoizbzmojqqm@games.example",
        "  place 1,0 0\n  place 0,1 0\n  place -1,0 0",
    ),
}


class Reply(Struct, frozen=True):
    """A mail, the moves it makes, and the kind of letter that answers it (empty where none has to)."""

    name: str
    game: str
    language: str
    client: Callable[[str, str, str], Body]
    own: str
    moves: tuple[str, ...] = ()
    letter: str = ""
    headers: str = ""


DEPLOY = ("deploy cossack Baikal-Bar",)
FLIP = ("flip",)
A5 = ("move A11 A5",)
PLACE = ("place 1,0 0",)
ROAD = (*PLACE, "figure meeple road")


def _kurier(
    name: str, language: str, client: Callable[[str, str, str], Body], own: str, *moves: str, **more: str
) -> Reply:
    return Reply(name, "kurier", language, client, own, moves, **more)


def _kaiser(
    name: str, language: str, client: Callable[[str, str, str], Body], own: str, *moves: str, **more: str
) -> Reply:
    return Reply(name, "kaiser", language, client, own, moves, **more)


def _turf(
    name: str, language: str, client: Callable[[str, str, str], Body], own: str, *moves: str, **more: str
) -> Reply:
    return Reply(name, "turfmaster", language, client, own, moves, **more)


def _tiles(
    name: str, language: str, client: Callable[[str, str, str], Body], own: str, *moves: str, **more: str
) -> Reply:
    return Reply(name, "carcassonne", language, client, own, moves, **more)


def add_picture(own: str, letter: str, language: str) -> Body:
    """Apple Mail with a picture in the middle: text, picture, text."""
    picture = Body("Content-Type: image/png; name=cat.png\nContent-Disposition: inline", b"iVBORw0KGgo=\n")
    return make_multipart(
        "mixed", plain(own), picture, plain(f"\n{clients.APPLE[language]}\n{clients.mark_quoted(letter)}")
    )


def attach_file(own: str, letter: str, language: str) -> Body:
    """The move of another player, in an attached file."""
    file = Body('Content-Type: text/plain; name="a.txt"\nContent-Disposition: attachment; filename="a.txt"', b"flip\n")
    return make_multipart("mixed", plain(own), file)


def forward(own: str, letter: str, language: str) -> Body:
    whole = Body("Content-Type: message/rfc822", b"Subject: old\nContent-Type: text/plain\n\nflip\n")
    return make_multipart("mixed", plain(own), whole)


def sign(own: str, letter: str, language: str) -> Body:
    seal = Body('Content-Type: application/pgp-signature; name="signature.asc"', b"-----BEGIN PGP SIGNATURE-----\n")
    return make_multipart("signed", make_multipart("mixed", plain(own)), seal)


def empty_plain(own: str, letter: str, language: str) -> Body:
    """A phone that fills in the HTML only."""
    return make_multipart("alternative", plain(" \n"), clients.gmail_html(own, letter, language))


def add_list_footer(own: str, letter: str, language: str) -> Body:
    """HTML alone, and a footer that a gateway hung below as text."""
    footer = "This e-mail and its attachments are confidential and meant for the intended recipient only."
    return make_multipart("mixed", clients.outlook_html(own, letter, language), plain(footer))


def mislabel(own: str, letter: str, language: str) -> Body:
    return plain(own, "utf-8", "8bit", real="cp1252")


def drop_label(own: str, letter: str, language: str) -> Body:
    return plain(own, "us-ascii", "8bit", real="utf-8")


def unheard_of(own: str, letter: str, language: str) -> Body:
    return plain(own, "x-mac-klingon", "quoted-printable", real="utf-8")


def utf16(own: str, letter: str, language: str) -> Body:
    return plain(own, "utf-16", "base64")


def utf7(own: str, letter: str, language: str) -> Body:
    return plain(own, "utf-7", "7bit")


FOOTER = "Dit bericht is vertrouwelijk en uitsluitend bestemd voor de geadresseerde. Flip niet zomaar door.\nflip\n"
OLD_TURN = "In-Reply-To: <00000000000003e9.1.0.turn@games.example>"
THIS_TURN = "In-Reply-To: <00000000000003e9.3.0.turn@games.example>"

REPLIES = (
    _kurier("gmail_en", "en", clients.gmail, "deploy cossack Baikal-Bar", *DEPLOY),
    _kurier("gmail_nl", "nl", clients.gmail, "Zet kozak Baikal Bar\n\nGroetjes,\nAnna", *DEPLOY),
    _kurier("gmail_fr", "fr", clients.gmail, "déployer cosaque Baïkal-Bar", *DEPLOY),
    _kurier("gmail_de", "de", clients.gmail, "Ich setze den Kosak in Baikal-Bar", *DEPLOY),
    _kurier("gmail_en_short", "en", clients.gmail, "dep cos bai", *DEPLOY),
    _kurier("gmail_below_nl", "nl", clients.gmail_below, "omslaan", *FLIP, letter="accepted"),
    _kurier("gmail_html_fr", "fr", clients.gmail_html, "Je retourne", *FLIP, letter="accepted"),
    _kurier("gmail_html_en", "en", clients.gmail_html, "Flip!", *FLIP, letter="accepted"),
    _kaiser("outlook_en", "en", clients.outlook, "move A11 A5", *A5, headers="X-Mailer: Microsoft Outlook 16.0"),
    _kaiser(
        "outlook_nl",
        "nl",
        clients.outlook,
        "Beste tafel,\n\nMijn zet: A11 naar A5.\n\nMet vriendelijke groet,\nAnna",
        *A5,
    ),
    _kaiser("outlook_fr", "fr", clients.outlook, "Bonjour,\n\ndéplace A11 A5\n\nCordialement, Anna", *A5),
    _kaiser("outlook_de", "de", clients.outlook, "Hallo zusammen,\n\nziehe A11-A5\n\nViele Grüße\nAnna", *A5),
    _kaiser("outlook_html_en", "en", clients.outlook_html, "A11 -> A5", *A5),
    _kaiser("outlook_html_de", "de", clients.outlook_html, "Zug: A11 nach A5", *A5),
    _kurier("outlook_web_nl", "nl", clients.outlook_web, "draai om", *FLIP, letter="accepted"),
    _kurier("outlook_web_de", "de", clients.outlook_web, "aufdecken\n\nGruß, Anna", *FLIP, letter="accepted"),
    _kurier("outlook_old_fr", "fr", clients.outlook_old, "retourner", *FLIP, letter="accepted"),
    _kurier("outlook_old_de", "de", clients.outlook_old, "Bitte aufdecken.", *FLIP, letter="accepted"),
    _kurier(
        "outlook_app_nl", "nl", clients.outlook_app, "inzetten kozak wolga wirtshaus", "deploy cossack Wolga-Wirtshaus"
    ),
    _kurier(
        "outlook_app_fr",
        "fr",
        clients.outlook_app,
        "place le cosaque à la Taiga Taverne",
        "deploy cossack Taiga-Taverne",
    ),
    _kurier("outlook_app_en", "en", clients.outlook_app, "Flip please", *FLIP, letter="accepted"),
    _kaiser("apple_en", "en", clients.apple, "MOVE a11 a5.", *A5),
    _kaiser("apple_nl", "nl", clients.apple, "zet a11 a5", *A5),
    _kaiser("apple_fr", "fr", clients.apple, "« bouge A11 A5 »", *A5),
    _kaiser("apple_html_de", "de", clients.apple_html, "„Ziehe A11 A5“", *A5),
    _kurier("iphone_en", "en", clients.iphone, "Deploy Cossack Wolga", "deploy cossack Wolga-Wirtshaus"),
    _kurier("iphone_nl", "nl", clients.iphone, "Plaats kozak in baikalbar", *DEPLOY),
    _kurier("iphone_fr", "fr", clients.iphone, "Retourne", *FLIP, letter="accepted"),
    _kurier("iphone_de", "de", clients.iphone, "Decke auf", *FLIP, letter="accepted"),
    _tiles("thunderbird_nl", "nl", clients.thunderbird, "leg 1,0 0\nfiguur meeple weg", *ROAD, letter="accepted"),
    _tiles(
        "thunderbird_de", "de", clients.thunderbird, "lege 1,0 0\nFigur Gefolgsmann Straße", *ROAD, letter="accepted"
    ),
    _tiles("thunderbird_fr", "fr", clients.thunderbird, "poser 1,0 0\npasser", *PLACE, "pass", letter="accepted"),
    _kurier("thunderbird_above_en", "en", clients.thunderbird_above, "flip", *FLIP, letter="accepted"),
    _kurier("galaxy_nl", "nl", clients.galaxy, "Omslaan graag", *FLIP, letter="accepted"),
    _kurier("galaxy_de", "de", clients.galaxy, "aufdecken", *FLIP, letter="accepted"),
    _kurier("galaxy_en", "en", clients.galaxy, "flip", *FLIP, letter="accepted"),
    _turf("k9_de", "de", clients.k9, "spiele 8 B9", "play 8 B9"),
    _turf("yahoo_en", "en", clients.yahoo, "play 8 B9", "play 8 B9"),
    _turf("proton_en", "en", clients.proton, "I play 3", "play 3 A4"),
    _turf("webde_de", "de", clients.webde, "Ich spiele 9 bleibe", "play 9 stay"),
    _turf("zimbra_fr", "fr", clients.zimbra, "je joue 3", "play 3 A4"),
    _turf("roundcube_nl", "nl", clients.roundcube, "speel 8 a9", "play 8 A9"),
    _turf("mutt_en", "en", clients.mutt, "play 8 A9", "play 8 A9"),
    _turf("between_en", "en", clients.write_between, "play 8 A9", "play 8 A9"),
    _kaiser("bare_en", "en", clients.bare, "a11 a5", *A5),
    _kaiser("picture_de", "de", add_picture, "rücke A 11 A 5", *A5),
    _kaiser("attached_nl", "nl", attach_file, "verzet A11 A5", *A5),
    _kurier("forwarded_en", "en", forward, "Look what I found.", letter="refused"),
    _kaiser("signed_en", "en", sign, "move A11 A5", *A5),
    _kurier("empty_plain_nl", "nl", empty_plain, "sla om", *FLIP, letter="accepted"),
    _kurier("footer_html_de", "de", add_list_footer, "aufdecken", *FLIP, letter="accepted"),
    _kurier("footer_nl", "nl", clients.bare, f"zet kozak baikal\n\n{FOOTER}", *DEPLOY),
    _kurier("mislabelled_fr", "fr", mislabel, "déploie cosaque Baikal-Bar", *DEPLOY),
    _kurier("unlabelled_fr", "fr", drop_label, "déploie cosaque Baikal-Bar", *DEPLOY),
    _kurier("unheard_of_charset", "de", unheard_of, "Setze Kosake Baikal-Bar", *DEPLOY),
    _kurier("utf16_fr", "fr", utf16, "déployer cosaque Baikal-Bar", *DEPLOY),
    _kurier("utf7_de", "de", utf7, "setze Kosak Baikal-Bar – bitte", *DEPLOY),
    _kurier("typo_en", "en", clients.gmail, "deploy cossack Wolga-Wirthaus", letter="refused"),
    _kurier("typo_nl", "nl", clients.iphone, "omslan", letter="refused"),
    _kurier("half_a_move_fr", "fr", clients.gmail, "placer cosaque", letter="refused"),
    _kurier("not_now_de", "de", clients.outlook, "reise Iwan", letter="refused"),
    _tiles("second_fails_nl", "nl", clients.gmail, "leg 1,0 0\nfiguur meeple klooster\npas", *PLACE, letter="refused"),
    _tiles("english_twice", "en", clients.apple, "place 1 0 0\nfigure road", letter="refused"),
    _tiles(
        "question_en",
        "en",
        clients.gmail,
        "place 1,0 0\nfigure meeple road\n\nIs it cold in Delft?",
        *ROAD,
        letter="accepted",
    ),
    _kurier("talk_only_nl", "nl", clients.gmail, "Leuk spel!\nTot morgen", letter="refused"),
    _kurier(
        "talk_first_en",
        "en",
        clients.gmail,
        "Sorry for the delay, the cat was ill.\n\nflip\n\nBest, A.",
        *FLIP,
        letter="accepted",
    ),
    _kurier("initials_fr", "fr", clients.gmail, "retourne\nF.", *FLIP, letter="accepted"),
    _kurier("nothing_of_ones_own", "en", clients.gmail, "", letter="refused"),
    _kurier("nothing_below_outlook", "nl", clients.outlook_web, "", letter="refused"),
    _kurier("unmarked_top", "en", clients.quote_without_marks, "deploy cossack Baikal-Bar", *DEPLOY),
    _kurier("unmarked_talk", "en", clients.quote_without_marks, "Thanks, will look tonight", letter="refused"),
    _kurier("status_fr", "fr", clients.iphone, "Situation ?", letter="accepted"),
    _kurier("help_de", "de", clients.galaxy, "Hilfe!", letter="accepted"),
    _kurier("help_nl", "nl", clients.outlook_app, "hulp aub", letter="accepted"),
    _kurier("resign_once_nl", "nl", clients.gmail, "Ik geef op", letter="accepted"),
    _kurier("resign_sure_fr", "fr", clients.gmail, "abandonner oui", "resign", letter="accepted"),
    _kurier("pause_de", "de", clients.apple, "Pause bitte", "pause", letter="accepted"),
    _kurier("this_turn_en", "en", clients.gmail, "flip", *FLIP, letter="accepted", headers=THIS_TURN),
    _kurier("old_turn_en", "en", clients.gmail, "flip", letter="refused", headers=OLD_TURN),
    _kurier("vacation_nl", "nl", clients.bare, "Ik ben op vakantie. flip", headers="Auto-Submitted: auto-replied"),
    _kurier("vacation_subject", "de", clients.bare, "flip", headers="Subject: Abwesenheitsnotiz: Kurier des Zaren"),
    _kurier("newsletter_en", "en", clients.bare, "flip", headers="Precedence: bulk"),
)
