"""How mail programs write an answer: what they put around the lines that a person types."""

from __future__ import annotations

import base64
import quopri
import tomllib
from html import escape
from pathlib import Path

from msgspec import Struct

SENDER = "table@games.example"
ABROAD = tomllib.loads((Path(__file__).parent / "abroad.toml").read_text("utf-8"))


def abroad(name: str) -> dict[str, str]:
    """The words of mail programs in languages that the service does not speak."""
    return {language: words[name].replace("{a}", SENDER) for language, words in ABROAD.items()}


# Headers of a quoted mail, and the line above a quotation, as programs in that language write them.
HEADERS = {
    "en": ("From", "Sent", "To", "Subject"),
    "nl": ("Van", "Verzonden", "Aan", "Onderwerp"),
    "fr": ("De", "Envoyé", "À", "Objet"),
    "de": ("Von", "Gesendet", "An", "Betreff"),
} | {language: tuple(words["headers"]) for language, words in ABROAD.items()}
DATES = {
    "en": "Wednesday, February 3, 2027 10:00 AM",
    "nl": "woensdag 3 februari 2027 10:00",
    "fr": "mercredi 3 février 2027 10:00",
    "de": "Mittwoch, 3. Februar 2027 10:00",
} | abroad("date")
GMAIL = {
    "en": "On Wed, 3 Feb 2027 at 10:00, Depesche <table@games.example> wrote:",
    "nl": "Op wo 3 feb 2027 om 10:00 schreef Depesche <table@games.example>:",
    "fr": "Le mer. 3 févr. 2027 à 10:00, Depesche <table@games.example> a écrit :",
    "de": "Am Mi., 3. Feb. 2027 um 10:00 Uhr schrieb Depesche <table@games.example>:",
} | abroad("gmail")
APPLE = {
    "en": "On 3 Feb 2027, at 10:00, Depesche <table@games.example> wrote:",
    "nl": "Op 3 feb 2027, om 10:00 heeft Depesche <table@games.example> het volgende geschreven:",
    "fr": "Le 3 févr. 2027 à 10:00, Depesche <table@games.example> a écrit :",
    "de": "Am 03.02.2027 um 10:00 schrieb Depesche <table@games.example>:",
} | abroad("apple")
THUNDERBIRD = {
    "en": "On 03/02/2027 10:00, Depesche wrote:",
    "nl": "Op 03-02-2027 om 10:00 schreef Depesche:",
    "fr": "Le 03/02/2027 à 10:00, Depesche a écrit :",
    "de": "Am 03.02.27 um 10:00 schrieb Depesche:",
} | abroad("thunderbird")
IPHONE = {
    "en": "Sent from my iPhone",
    "nl": "Verstuurd vanaf mijn iPhone",
    "fr": "Envoyé de mon iPhone",
    "de": "Von meinem iPhone gesendet",
} | abroad("iphone")
GALAXY = {
    "en": "Sent from my Galaxy",
    "nl": "Verzonden vanaf mijn Galaxy",
    "fr": "Envoyé depuis mon appareil Galaxy",
    "de": "Von meinem Galaxy gesendet",
} | abroad("galaxy")
ORIGINAL = {
    "en": "Original message",
    "nl": "Oorspronkelijk bericht",
    "fr": "Message d'origine",
    "de": "Ursprüngliche Nachricht",
} | abroad("original")
OUTLOOK_APP = {
    "en": "Get Outlook for iOS<https://aka.ms/o0ukef>",
    "nl": "Verzonden vanuit Outlook voor iOS<https://aka.ms/o0ukef>",
    "fr": "Télécharger Outlook pour iOS<https://aka.ms/o0ukef>",
    "de": "Holen Sie sich Outlook für iOS<https://aka.ms/o0ukef>",
} | abroad("outlook")


class Body(Struct, frozen=True):
    """The headers of a body and the body itself, as bytes on the wire."""

    headers: str
    content: bytes


def plain(
    text: str, charset: str = "utf-8", coding: str = "quoted-printable", params: str = "", real: str = ""
) -> Body:
    """A body of text; `real` is the code it is truly in, where its header is wrong."""
    charset, coding = (charset, coding) if real or _fits(text, charset) else ("utf-8", "quoted-printable")
    raw = text.encode(real or charset)
    return Body(_headers(f"text/plain; charset={charset}{params}", coding), _encode(raw, coding))


def html(text: str, charset: str = "utf-8", coding: str = "quoted-printable", head: str = "") -> Body:
    page = f"<html><head>{head}</head><body>{text}</body></html>"
    charset = charset if _fits(page, charset) else "utf-8"
    return Body(_headers(f"text/html; charset={charset}", coding), _encode(page.encode(charset), coding))


def _fits(text: str, charset: str) -> bool:
    """Programs take UTF-8 where their usual code lacks a letter."""
    return text.encode(charset, "replace").decode(charset) == text


def make_multipart(kind: str, *bodies: Body) -> Body:
    """A body of bodies."""
    border = f"=_{kind}_border"
    parts = b"".join(f"--{border}\n{body.headers}\n\n".encode() + body.content.rstrip(b"\n") + b"\n" for body in bodies)
    return Body(f'Content-Type: multipart/{kind}; boundary="{border}"', parts + f"--{border}--\n".encode())


def _headers(kind: str, coding: str) -> str:
    return f"Content-Type: {kind}\nContent-Transfer-Encoding: {coding}"


def _encode(raw: bytes, coding: str) -> bytes:
    match coding:
        case "base64":
            return base64.encodebytes(raw)
        case "quoted-printable":
            return quopri.encodestring(raw)
    return raw


def mark_quoted(letter: str) -> str:
    return "".join(f"> {line}\n" if line else ">\n" for line in letter.splitlines())


def lines(text: str, tag: str = "div") -> str:
    """Text as HTML, a block for each line."""
    return "".join(f"<{tag}>{escape(line) or '<br>'}</{tag}>\n" for line in text.splitlines())


def block(language: str, mark: str = "") -> str:
    """The headers of the mail that is answered, as Outlook and its like put them above it."""
    named = zip(HEADERS[language], (f"Depesche <{SENDER}>", DATES[language], "Anna", "Kurier des Zaren"), strict=True)
    return "".join(f"{mark}{name}:{mark} {value}\n" for name, value in named)


def gmail(own: str, letter: str, language: str) -> Body:
    above = GMAIL[language].replace(" Depesche", "\nDepesche")  # wrapped at 78 columns
    page = (
        f'<div dir="ltr">{lines(own)}</div><br><div class="gmail_quote gmail_quote_container">'
        f'<div dir="ltr" class="gmail_attr">{escape(GMAIL[language])}<br></div>'
        f'<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex">{lines(letter)}</blockquote></div>'
    )
    return make_multipart("alternative", plain(f"{own}\n\n{above}\n\n{mark_quoted(letter)}"), html(page))


def gmail_below(own: str, letter: str, language: str) -> Body:
    return plain(f"{GMAIL[language]}\n\n{mark_quoted(letter)}\n{own}\n")


def gmail_html(own: str, letter: str, language: str) -> Body:
    quote = f'<div class="gmail_quote"><div class="gmail_attr">{escape(GMAIL[language])}</div>{lines(letter)}</div>'
    return html(f'<div dir="ltr">{lines(own)}</div>{quote}', coding="base64")


def outlook(own: str, letter: str, language: str) -> Body:
    """Outlook on Windows: Word's HTML, and text where nothing marks the quotation but the headers above it."""
    text = f"{own}\n\n{block(language)}\n{letter}"
    divider = '<div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm">'
    page = (
        f'<div class="WordSection1">{lines(own, "p")}{divider}{lines(block(language), "p")}</div></div>'
        f"{lines(letter, 'p')}</div>"
    )
    style = "<style><!-- p.MsoNormal {margin:0cm;} --></style><!--[if gte mso 9]><xml>move</xml><![endif]-->"
    return make_multipart("alternative", plain(text, "Windows-1252"), html(page, "Windows-1252", head=style))


def outlook_html(own: str, letter: str, language: str) -> Body:
    """The same where only the HTML is sent."""
    divider = '<div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm">'
    heads = f"{divider}{lines(block(language), 'p')}</div>"
    page = f'<div class="WordSection1">{lines(own, "p")}{heads}{lines(letter, "p")}</div>'
    return html(page, "iso-8859-1", head="<style>@font-face {font-family:Calibri;}</style>")


def outlook_web(own: str, letter: str, language: str) -> Body:
    page = (
        f'<div class="elementToProof">{lines(own)}</div><div id="appendonsend"></div>'
        f'<hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg" dir="ltr">{lines(block(language))}</div>'
        f"<div>{lines(letter)}</div>"
    )
    return html(page, coding="base64")


def outlook_old(own: str, letter: str, language: str) -> Body:
    return plain(f"{own}\n\n-----{ORIGINAL[language]}-----\n{block(language)}\n{letter}", "iso-8859-15")


def outlook_app(own: str, letter: str, language: str) -> Body:
    rule = "_" * 32
    return plain(f"{own}\n\n{OUTLOOK_APP[language]}\n{rule}\n{block(language)}\n{letter}", coding="base64")


def apple(own: str, letter: str, language: str) -> Body:
    return plain(f"{own}\n\n> {APPLE[language]}\n> \n{mark_quoted(letter)}\n", params=";\n\tdelsp=no")


def apple_html(own: str, letter: str, language: str) -> Body:
    page = (
        f'<div>{lines(own)}</div><br id="lineBreakAtBeginningOfMessage"><div><blockquote type="cite">'
        f"<div>{escape(APPLE[language])}</div>{lines(letter)}</blockquote></div>"
    )
    return make_multipart("alternative", html(page, "us-ascii" if page.isascii() else "utf-8"))


def iphone(own: str, letter: str, language: str) -> Body:
    quotation = f"> {APPLE[language]}\n> \n> \ufeff{letter.splitlines()[0]}\n{mark_quoted(letter)}"
    return plain(f"{own}\n\n{IPHONE[language]}\n\n{quotation}", coding="base64")


def thunderbird(own: str, letter: str, language: str) -> Body:
    """Below the quotation, with lines that flow."""
    return plain(f"{THUNDERBIRD[language]}\n{mark_quoted(letter)}\n{own}\n", params="; format=flowed", coding="8bit")


def thunderbird_above(own: str, letter: str, language: str) -> Body:
    text = f"{own}\n\n-- \nAnna\nstop\n\n{THUNDERBIRD[language]}\n{mark_quoted(letter)}"
    return plain(text, params="; format=flowed", coding="8bit")


def galaxy(own: str, letter: str, language: str) -> Body:
    rule = f"-------- {ORIGINAL[language]} --------"
    return plain(f"{own}\n\n\n{GALAXY[language]}\n\n{rule}\n{block(language)}\n{letter}", coding="base64")


def the_bat(own: str, letter: str, language: str) -> Body:
    """The Bat quotes with the initials of whom it quotes, its greeting is part of the template."""
    quoted = "".join(f" D> {line}\n" for line in letter.splitlines())
    return plain(f"{own}\n\n{THUNDERBIRD[language]}\n\n{quoted}\n-- \nAnna   mailto:anna@example.org\n", coding="8bit")


def k9(own: str, letter: str, language: str) -> Body:
    text = "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet."
    return plain(f"{own}\n-- \n{text}\n\n{APPLE[language]}\n{mark_quoted(letter)}")


def yahoo(own: str, letter: str, language: str) -> Body:
    above = "    On Wednesday, February 3, 2027 at 10:00:00 AM GMT+1, Depesche <table@games.example> wrote:  "
    text = f" {own} \n\n{above}\n \n {letter}"
    page = f'<div class="ydp1">{lines(own)}</div><div id="ydp2" class="yahoo_quoted">{lines(above + letter)}</div>'
    return make_multipart("alternative", plain(text), html(page))


def proton(own: str, letter: str, language: str) -> Body:
    above = "On Wednesday, February 3rd, 2027 at 10:00 AM, Depesche <table@games.example> wrote:"
    return plain(f"{own}\n\nSent with Proton Mail secure email.\n\n{above}\n\n{mark_quoted(letter)}")


def webde(own: str, letter: str, language: str) -> Body:
    """GMX and WEB.DE: HTML alone, the headers in bold."""
    named = block(language).splitlines()
    heads = "".join(f"<b>{line.partition(':')[0]}:</b>{escape(line.partition(':')[2])}<br/>" for line in named)
    quote = f'<div name="quote" style="border-left:2px solid #C3D9E5;"><div>{heads}</div>{lines(letter)}</div>'
    return html(f'<div style="font-family: Verdana">{lines(own)}<div>&nbsp;</div>{quote}</div>')


def zimbra(own: str, letter: str, language: str) -> Body:
    return plain(f"{own}\n\n----- Mail original -----\n{block('fr')}\n{letter}", "iso-8859-1")


def roundcube(own: str, letter: str, language: str) -> Body:
    above = {"nl": "Depesche schreef op 2027-02-03 10:00:", "de": "Am 2027-02-03 10:00, schrieb Depesche:"}
    return plain(f"{above.get(language, 'On 2027-02-03 10:00, Depesche wrote:')}\n{mark_quoted(letter)}\n{own}\n")


def mutt(own: str, letter: str, language: str) -> Body:
    above = "On Wed, Feb 03, 2027 at 10:00:00AM +0100, Depesche wrote:"
    return plain(f"{above}\n{mark_quoted(letter)}\n{own}\n\n-- \nAnna  | stop\n", "us-ascii", "7bit")


def write_between(own: str, letter: str, language: str) -> Body:
    """An answer in the middle of what it answers."""
    first, *rest = letter.splitlines()
    return plain(f"{GMAIL[language]}\n> {first}\n\n{own}\n\n" + mark_quoted("\n".join(rest)))


def quote_without_marks(own: str, letter: str, language: str) -> Body:
    """A program that puts the letter below without any mark."""
    return plain(f"{own}\n\n{letter}")


def bare(own: str, letter: str, language: str) -> Body:
    return plain(own, "us-ascii" if own.isascii() else "utf-8", "7bit" if own.isascii() else "8bit")
