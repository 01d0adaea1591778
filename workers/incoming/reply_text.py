"""Reading a mail: the lines that somebody wrote himself, without what he quoted, signed or was made to append.

Nothing here knows a game. What is cut away too much is asked for again; what is left too much is talk, and talk is
passed over, so in doubt a line is cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from email.message import Message
from typing import Any

from workers.incoming import html_text

LONGEST = 100_000  # letters of one part; an answer stands above what it quotes, or it quotes little
MOST = 60
WIDEST = 500
DEEPEST = 12
OF_ONE_BYTE = re.compile(r"(us-?ascii|ascii|latin-?1|iso-?8859-?\d+|windows-?\d+|cp-?\d+|unknown.*|)$", re.IGNORECASE)

OUR_LETTER = re.compile(r"://\S+/t/[a-z2-7]{20}|\b[0-9a-f]{64}\b")
QUOTED = re.compile(r"\s*[>|]")
DATED = re.compile(r"[\d@]")
LED = re.compile(r"(On|Op|Le|Am)\b", re.IGNORECASE)
ATTRIBUTION = re.compile(
    r"(On\b.{6,400}\bwrote\s?"
    r"|Op\b.{6,400}\bschreef\b.{0,300}"
    r"|Op\b.{6,400}\bgeschreven\s?"
    r"|Le\b.{6,400}\ba écrit\s?"
    r"|Am\b.{6,400}\bschrieb\b.{0,300}"
    r"|.{1,200}\b(schreef op|schrieb am|a écrit le|wrote on)\b.{4,200}"
    r"|\d{4}-\d\d-\d\d.{1,200}<\S+@\S+>\s?"
    r"|.{0,200}<\S+@\S+>( (wrote|schreef|a écrit|schrieb))?\s?):$",
    re.IGNORECASE,
)
HEADER = re.compile(
    r"[*_]{0,2}(From|Sent|Date|To|Subject|Cc|Reply-To|Van|Verzonden|Datum|Aan|Onderwerp|Antwoord aan|De|Envoyé(?: le)?|"
    r"À|A|Objet|Répondre à|Von|Gesendet|An|Betreff|Antwort an)\s?:[*_]{0,2}(\s|$)",
    re.IGNORECASE,
)
RULE = re.compile(r"[-_=*]{5,}|-{2,} .* -{2,}$|Begin forwarded message:|Anfang der weitergeleiteten", re.IGNORECASE)
SIGNATURE = re.compile(r"(--|—|––)$")
DEVICE = re.compile(
    r"(Sent (from|via|with|using)\b|Get Outlook for|Verstuurd (vanaf|met|via|vanuit)|Verzonden (vanaf|via|met|vanuit)|"
    r"Outlook voor .* downloaden|Download Outlook|Envoyé (de|depuis|à partir|avec|via)\b|Télécharg\w+ Outlook|"
    r"(Von|Mit|Aus) .{2,60} gesendet|Gesendet (von|mit|über|aus|via)\b|Holen Sie sich Outlook|"
    r"Diese Nachricht wurde von .* gesendet|Obtenez Outlook|Virus-?free|Virenfrei|Virusvrij|Sans virus)",
    re.IGNORECASE,
)
FOOTER = re.compile(
    r"(?=.{60}).*\b(confidential|vertrouwelijk|confidentiel|vertraulich|intended recipient|geadresseerde|destinataire)"
    r"|disclaimer\b|.*gescannt? .*viren|.*checked for viruses",
    re.IGNORECASE,
)


def own_lines(message: Message) -> tuple[str, ...]:
    """What the sender wrote himself, line by line, without empty ones."""
    lines: list[str] = []
    for line in _of(message, 0):
        if line and len(lines) < MOST:
            lines.append(line[:WIDEST])
    if any(OUR_LETTER.search(line) for line in lines):  # quoted, and nothing says so: only the top is surely his own
        return tuple(lines[:1])
    return tuple(lines)


def _of(part: Message, depth: int) -> Iterator[str]:
    """The lines of a part: of its first form that has any, where it comes in several."""
    kind = part.get_content_type()
    if depth > DEEPEST or part.get_content_disposition() == "attachment" or kind.startswith("message/"):
        return
    if part.is_multipart():
        for form in _forms(part):
            lines = list(_of(form, depth + 1))
            yield from lines
            if lines and kind == "multipart/alternative":
                return
    elif kind == "text/plain":
        yield from unquoted(_flowed(part, text_of(part)))
    elif kind == "text/html":
        yield from unquoted(html_text.text(text_of(part)))


def _forms(part: Message) -> list[Message]:
    """The parts to read: plain text before any other form of it, and of a page with pictures only the page."""
    payload: Any = part.get_payload()
    forms = [form for form in payload if isinstance(form, Message)]
    if part.get_content_type() == "multipart/related":
        return forms[:1]
    if part.get_content_type() == "multipart/alternative":
        return sorted(forms, key=lambda form: form.get_content_type() != "text/plain")
    return forms


def text_of(part: Message) -> str:
    """The text of a part, whatever its sender believes its letters to be coded in."""
    payload = part.get_payload(decode=True)
    raw = payload[: 4 * LONGEST] if isinstance(payload, bytes) else b""
    named = (part.get_content_charset() or "").strip()
    codes = ("utf-8", named, "cp1252") if OF_ONE_BYTE.match(named) else (named, "utf-8", "cp1252")
    for code in codes:
        try:
            return raw.decode(code or "utf-8")[:LONGEST]
        except (LookupError, ValueError):
            continue
    return raw.decode("latin-1")[:LONGEST]


def _flowed(part: Message, text: str) -> str:
    """Lines that were broken only to be sent, whole again (RFC 3676)."""
    if str(part.get_param("format", "")).casefold() != "flowed":
        return text
    delsp = str(part.get_param("delsp", "")).casefold() == "yes"
    whole: list[str] = []
    open_end = False
    for broken in text.splitlines():
        line = broken.removeprefix(" ")
        quoted = QUOTED.match(line) is not None
        if open_end and not quoted and line != "-- ":
            whole[-1] = (whole[-1][:-1] if delsp else whole[-1]) + line
        else:
            whole.append(line)
        open_end = line.endswith(" ") and not quoted and line != "-- "
    return "\n".join(whole)


def unquoted(text: str) -> Iterator[str]:
    """The lines of a text that are neither quoted nor said about the quoted, nor a signature or a footer."""
    lines = [_clean(line) for line in text.splitlines()]
    place = 0
    while place < len(lines):
        line = lines[place]
        after = _said_about_the_quoted(lines, place)
        if after:
            if not _quote_follows(lines, after):
                return
            place = after
            continue
        if SIGNATURE.match(line):
            place = _next_quote(lines, place)
            continue
        if FOOTER.match(line):
            return
        if line and not QUOTED.match(line) and not DEVICE.match(line):
            yield line
        place += 1


def _said_about_the_quoted(lines: list[str], place: int) -> int:
    """Where the words that introduce a quotation end, if they begin here; 0 where they do not."""
    if RULE.match(lines[place]):
        return place + 1
    if sum(bool(HEADER.match(line)) for line in lines[place : place + 6]) >= 3 and HEADER.match(lines[place]):
        return next((at for at in range(place, len(lines)) if not lines[at]), len(lines))
    if not DATED.search(lines[place]):
        return 0
    for size in (1, 2, 3) if LED.match(lines[place]) else (1,):
        wrapped = lines[place : place + size]
        if not all(wrapped) or any(map(QUOTED.match, wrapped)):
            return 0
        if ATTRIBUTION.match(" ".join(wrapped)[:700]):
            return place + size
    return 0


def _quote_follows(lines: list[str], place: int) -> bool:
    """Whether the next line with anything in it is marked as quoted, so that more may follow below."""
    return bool(QUOTED.match(next((line for line in lines[place:] if line), "")))


def _next_quote(lines: list[str], place: int) -> int:
    """The first line from here on that is quoted, or says that what follows is."""
    for at in range(place + 1, len(lines)):
        if QUOTED.match(lines[at]) or _said_about_the_quoted(lines, at):
            return at
    return len(lines)


def _clean(line: str) -> str:
    """Without control characters and what cannot be seen, accents and letters together, one blank between words."""
    composed = unicodedata.normalize("NFC", line[: 4 * WIDEST])
    shown = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Zs") else letter
        for letter in composed
        if unicodedata.category(letter) not in ("Cf", "Cs", "Co", "Cn")
    )
    return " ".join(shown.split())
