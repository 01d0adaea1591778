"""Reads a mail: the lines that its sender typed, without quotations, signatures and footers.

Nothing here knows a game. In doubt a line is cut: the sender is asked again, but no move is played that nobody typed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from email.message import Message
from typing import Any

from workers.incoming import html_text, our_letters

LONGEST = 100_000  # characters of one part; an answer stands above what it quotes, or it quotes little
MOST = 60  # lines that are kept; an answer of several moves and some talk has fewer than twenty
WIDEST = 500  # characters of a line that are kept; the longest move of any game has fewer than a hundred
DEEPEST = 12  # parts inside parts; mail programs nest at most five deep, forwarded lists a few more
# Charsets of one byte a character: their senders are often wrong about them, so UTF-8 is tried before.
OF_ONE_BYTE = re.compile(r"(us-?ascii|ascii|latin-?1|iso-?8859-?\d+|windows-?\d+|cp-?\d+|unknown.*|)$", re.IGNORECASE)

# A link to a table or a receipt: only our letters have them, in any language.
OUR_LETTER = re.compile(r"://\S+/t/[a-z2-7]{20}|\b[0-9a-f]{64}\b")
# Also after initials, as The Bat quotes: "LG> "; and » or › unless a word in quotation marks begins so.
QUOTED = re.compile(r"\s*([A-ZÀ-ÞА-Я]{1,4}>|[>|¦＞]|»(?![^«]*«)|›(?![^‹]*‹))")
# Characters that turn the order of letters around: what they show is not what a program reads.
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Words set in bold or otherwise apart, as programs write them into the text: *so*, _so_ or `so`.
BOLD = re.compile(r"(?<![\w*`])(\*{1,3}|_{1,2}|`)(?=\S)([^*_`]*[^*_`\s])\1(?![\w*`])")
# Inline PGP: the signed text stands between two lines of armour, its lines beginning with a dash are escaped.
SIGNED = re.compile(
    r"-----BEGIN PGP SIGNED MESSAGE-----\s*\n(?:[A-Za-z-]+: [^\n]*\n)*\s*\n(.*?)(?:-----BEGIN PGP SIGNATURE-----|\Z)",
    re.DOTALL,
)
# The line above a quotation: it has a date or an address in it, begins with `LED` where it may be wrapped into three
# lines, and ends with a colon. 6 to 400 characters hold the longest date, name and address seen.
DATED = re.compile(r"[\d@]")
LED = re.compile(r"(On|Op|Le|Am)\b", re.IGNORECASE)
ATTRIBUTION = re.compile(
    r"(On\b.{6,400}\bwrote\s?"
    r"|Op\b.{6,400}\bschreef\b.{0,300}"
    r"|Op\b.{6,400}\bgeschreven\s?"
    r"|Le\b.{6,400}\ba écrit\s?"
    r"|Am\b.{6,400}\bschrieb\b.{0,300}"
    r"|.{1,200}\b(schreef op|schrieb am|a écrit le|wrote on)\b.{4,200}"
    r"|.{0,300}<[^<>@\s]{1,64}@[^<>@\s]{1,200}>.{0,60}):$",
    re.IGNORECASE,
)
# The same in any language: a time or an address, a colon at the end, and the quotation below; wrapped, a year above.
ANY_ATTRIBUTION = re.compile(r"(?=.*(\d[:.h]\d\d|\S@\S)).{6,300}[:：]$")
YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
# A header of the quoted mail, as programs in many languages write them; three of them make a header block.
HEADER = re.compile(
    r"[*_]{0,2}(From|Sent|Date|To|Subject|Cc|Reply-To|Van|Verzonden|Datum|Aan|Onderwerp|Antwoord aan|De|Envoyé(?: le)?|"
    r"À|A|Objet|Répondre à|Von|Gesendet|An|Betreff|Antwort an|Enviad[oa](?: el| em)?|Para|Asunto|Fecha|Assunto|Data|"
    r"Da|Inviato|Oggetto|Od|Wysłan[oe]|Do|Temat|Odesláno|Komu|Předmět|Från|Skickat|Till|Ämne|Fra|Sendt|Til|Emne|Dato|"
    r"Lähettäjä|Lähetetty|Vastaanottaja|Aihe|Feladó|Elküldve|Címzett|Tárgy|От(?: кого)?|Отправлено|Кому|Тема|Дата|"
    r"Від|Надіслано|Kimden|Gönderildi|Kime|Konu|Tarih|Από|Προς|Θέμα|差出人|送信日時|宛先|件名|日付|发件人|发送时间|收件人|主题"
    r")\s?[:：][*_]{0,2}(\s|$)",
    re.IGNORECASE,
)
# Any label and a colon, in a language that is not ours; they count only directly above our letter.
LABEL = re.compile(r"[*_]{0,2}[^\W\d][^:]{0,30}:")
# A rule, or the words with which Apple's programs hand a mail on.
RULE = re.compile(
    r"[-_=*]{5,}|-{2,} .* -{2,}$|(Begin (forwarded message|doorgestuurd bericht)|Anfang der weitergeleiteten .*|"
    r"Début du message (transféré|réexpédié)|Inizio messaggio inoltrato|Inicio del mensaje reenviado|"
    r"Início da mensagem (re)?encaminhada|Początek przekazywanej wiadomości|Začátek přeposlané zprávy|"
    r"Vidarebefordrat (brev|meddelande)|(Start på )?videresendt (besked|melding)|Начало переадресованного сообщения|"
    r"Välitetty viesti alkaa|Továbbított üzenet kezdete|転送されたメッセージ)\s?[:：]",
    re.IGNORECASE,
)
HEADERS = 3  # labels in a row are the headers of a quoted mail; one or two may be "My move: flip"
SIGNATURE = re.compile(r"(--|—|––|_{2,})$")
# Lines that phones and virus scanners add below a text.
DEVICE = re.compile(
    r"(Sent (from|via|with|using)\b|Get Outlook for|Verstuurd (vanaf|met|via|vanuit)|Verzonden (vanaf|via|met|vanuit)|"
    r"Outlook voor .* downloaden|Download Outlook|Envoyé (de|depuis|à partir|avec|via)\b|Télécharg\w+ Outlook|"
    r"(Von|Mit|Aus) .{2,60} gesendet|Gesendet (von|mit|über|aus|via)\b|Holen Sie sich Outlook|"
    r"Enviado (desde|do|a partir)\b|Inviato da\w*\b|Wysłan[eo] z\b|Odesláno z\b|Skickat från\b|Sendt fra\b|"
    r"Lähetetty \w+sta(ni)?\b|Отправлено (с|из)\b|(iPhone|iPad|Galaxy)\S*( \w+)? (küldve|gönderildi)$|\w+から送信$|"
    r"发自我的|.{2,60}<https://aka\.ms/\w+>$|Diese Nachricht wurde von .* gesendet|Obtenez Outlook|"
    r"Virus-?free|Virenfrei|Virusvrij|Sans virus)",
    re.IGNORECASE,
)
# Footers of companies; the first kind is a long line, for a short one may be talk about a confidential matter.
FOOTER = re.compile(
    r"(?=.{60}).*\b(confidential|vertrouwelijk|confidentiel|vertraulich|intended recipient|geadresseerde|destinataire|"
    r"confidencia[li]|riservat|destinat[aá]rio|poufn|adresat|důvěrn|konfidentiell|fortrolig|luottamuksel|конфиденциальн)"
    r"|disclaimer\b|.*gescannt? .*viren|.*checked for viruses",
    re.IGNORECASE,
)


def own_lines(message: Message) -> tuple[str, ...]:
    """What the sender typed, line by line, without empty lines."""
    lines = _above_our_letter([line for line in _of(message, 0) if line])
    return tuple(line[:WIDEST] for line in lines[:MOST])


def _above_our_letter(lines: list[str]) -> list[str]:
    """The lines before a letter of ours that is quoted without any mark; in a language unknown to us, the first."""
    place = our_letters.begins_at(lines)
    if place is None:
        return lines[:1] if any(OUR_LETTER.search(line) for line in lines) else lines
    labels = place
    while labels and LABEL.match(lines[labels - 1]):
        labels -= 1
    return lines[: labels if place - labels >= HEADERS else place]


def _of(part: Message, depth: int) -> Iterator[str]:
    """The lines of a part: of its first form that has any, where it comes in several."""
    kind = part.get_content_type()
    file = part.get_content_disposition() == "attachment" or (depth and part.get_filename())
    if depth > DEEPEST or file or kind.startswith("message/"):
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
        yield from unquoted(html_text.extract_text(text_of(part)))


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
    """The lines of a text that are neither quoted nor introduce a quotation, nor a signature or a footer."""
    signed = SIGNED.search(text)
    if signed:
        text = re.sub(r"^- ", "", signed[1], flags=re.MULTILINE)
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
            yield BOLD.sub(r"\2", line)
        place += 1


def _said_about_the_quoted(lines: list[str], place: int) -> int:
    """Where the words that introduce a quotation end, if they begin here; 0 where they do not."""
    if RULE.match(lines[place]):
        return place + 1
    if sum(bool(HEADER.match(line)) for line in lines[place : place + 6]) >= HEADERS and HEADER.match(lines[place]):
        return next((at for at in range(place, len(lines)) if not lines[at]), len(lines))
    if not DATED.search(lines[place]):
        return 0
    for size in (1, 2, 3) if LED.match(lines[place]) else (1,):
        wrapped = lines[place : place + size]
        if not all(wrapped) or any(map(QUOTED.match, wrapped)):
            return 0
        if ATTRIBUTION.match(" ".join(wrapped)[:700]):
            return place + size
    return _in_any_language(lines, place)


def _in_any_language(lines: list[str], place: int) -> int:
    """Where such words end in a language that is not ours: only directly above what is marked as quoted."""
    for size in (1, 2) if YEAR.search(lines[place]) else (1,):
        said = " ".join(lines[place : place + size])
        if all(lines[place : place + size]) and ANY_ATTRIBUTION.match(said) and _quote_follows(lines, place + size):
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
    """Without control and invisible characters, composed, one blank between words; empty where its order is turned."""
    if TURNING.search(line):
        return ""
    composed = unicodedata.normalize("NFC", line[: 4 * WIDEST])
    shown = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Zs") else letter
        for letter in composed
        if unicodedata.category(letter) not in ("Cf", "Cs", "Co", "Cn")
    )
    return " ".join(shown.split())
