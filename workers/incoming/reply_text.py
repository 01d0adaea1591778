"""Extracts the lines of a mail that its sender typed, without quotations, signatures and footers.

In doubt a line is cut: the sender is asked again, but no move is played that the sender did not type.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from email.message import Message
from itertools import product
from pathlib import Path
from typing import Any

from service.text.languages import LANGUAGES, load_translations
from service.text.templates import TEMPLATES
from workers.incoming import html_text
from workers.incoming.mail_headers import blank_controls

MAX_PART_CHARS = 100_000  # an answer is above what it quotes, or it quotes little
MAX_LINES = 60  # an answer of several moves and some talk has fewer than twenty
MAX_ATTRIBUTION_CHARS = 700  # of the words above a quotation, with a date, a name and an address
MAX_LINE_CHARS = 500  # the longest move of any game has fewer than a hundred
MAX_DEPTH = 12  # parts inside parts; mail programs nest at most five deep, forwarded lists a few more
# Charsets of one byte a character: programs often name the wrong one, so UTF-8 is tried before.
OFTEN_WRONG_CHARSET = re.compile(
    r"(us-?ascii|ascii|latin-?1|iso-?8859-?\d+|windows-?\d+|cp-?\d+|unknown.*|)$", re.IGNORECASE
)

# A link to a table or a receipt: only letters of Depesche have them, in any language.
LETTER_MARK = re.compile(r"://\S+/t/[a-z2-7]{20}|\b[0-9a-f]{64}\b")
# Also after initials, as The Bat quotes: "LG> "; and » or › unless a word in quotation marks begins so.
QUOTE_MARK = re.compile(r"\s*([A-ZÀ-ÞА-Я]{1,4}>|[>|¦＞]|»(?![^«]*«)|›(?![^‹]*‹))")
# Characters that reverse the order of letters: what a person sees is not what a program reads.
DIRECTION_MARK = re.compile("[\u202a-\u202e\u2066-\u2069]")
BLANK_CATEGORIES = ("Cc", "Zs")  # of Unicode: controls and spaces
INVISIBLE_CATEGORIES = ("Cf", "Cs", "Co", "Cn")  # marks of format, halves of pairs, private and unassigned characters
# Words set in bold or otherwise marked, as programs write them into the text: *so*, _so_ or `so`.
BOLD = re.compile(r"(?<![\w*`])(\*{1,3}|_{1,2}|`)(?=\S)([^*_`]*[^*_`\s])\1(?![\w*`])")
# Inline PGP: the text is between two lines of armour, and its lines that begin with a dash are escaped. It begins the
# mail; armour below is another's, quoted.
PGP_TEXT = re.compile(
    r"\s*-----BEGIN PGP SIGNED MESSAGE-----\s*\n"
    r"(?:[A-Za-z-]+: [^\n]*\n)*\s*\n(.*?)(?:-----BEGIN PGP SIGNATURE-----|\Z)",
    re.DOTALL,
)
# The line above a quotation, such as "On 3 Feb 2027, Anna wrote:". It has a date or an address in it, and ends with a
# colon. If it begins with `WRAPPED_ATTRIBUTION`, it may be wrapped into MAX_WRAPPED_LINES. 6 to 400 characters hold the
# longest date, name and address seen.
MAX_WRAPPED_LINES = 3
DATE_OR_ADDRESS = re.compile(r"[\d@]")
WRAPPED_ATTRIBUTION = re.compile(r"(On|Op|Le|Am)\b", re.IGNORECASE)
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
# The same in any language: a time or an address, a colon at the end, and the quotation below. If it is wrapped into two
# lines, the first has a year.
ANY_ATTRIBUTION = re.compile(r"(?=.*(\d[:.h]\d\d|\S@\S)).{6,300}[:：]$")
YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
# A header of the quoted mail, as programs in many languages write them; three of them make a header block.
HEADER_LABEL = re.compile(
    r"[*_]{0,2}(From|Sent|Date|To|Subject|Cc|Reply-To|Van|Verzonden|Datum|Aan|Onderwerp|Antwoord aan|De|Envoyé(?: le)?|"
    r"À|A|Objet|Répondre à|Von|Gesendet|An|Betreff|Antwort an|Enviad[oa](?: el| em)?|Para|Asunto|Fecha|Assunto|Data|"
    r"Da|Inviato|Oggetto|Od|Wysłan[oe]|Do|Temat|Odesláno|Komu|Předmět|Från|Skickat|Till|Ämne|Fra|Sendt|Til|Emne|Dato|"
    r"Lähettäjä|Lähetetty|Vastaanottaja|Aihe|Feladó|Elküldve|Címzett|Tárgy|От(?: кого)?|Отправлено|Кому|Тема|Дата|"
    r"Від|Надіслано|Kimden|Gönderildi|Kime|Konu|Tarih|Από|Προς|Θέμα|差出人|送信日時|宛先|件名|日付|发件人|发送时间|收件人|主题"
    r")\s?[:：][*_]{0,2}(\s|$)",
    re.IGNORECASE,
)
# Any label and a colon, in any language; they count only directly above a letter of Depesche.
LABEL = re.compile(r"[*_]{0,2}[^\W\d][^:]{0,30}:")
# A rule, or the words that Apple's programs put above a forwarded mail.
DIVIDER = re.compile(
    r"[-_=*]{5,}|-{2,} .* -{2,}$|(Begin (forwarded message|doorgestuurd bericht)|Anfang der weitergeleiteten .*|"
    r"Début du message (transféré|réexpédié)|Inizio messaggio inoltrato|Inicio del mensaje reenviado|"
    r"Início da mensagem (re)?encaminhada|Początek przekazywanej wiadomości|Začátek přeposlané zprávy|"
    r"Vidarebefordrat (brev|meddelande)|(Start på )?videresendt (besked|melding)|Начало переадресованного сообщения|"
    r"Välitetty viesti alkaa|Továbbított üzenet kezdete|転送されたメッセージ)\s?[:：]",
    re.IGNORECASE,
)
MIN_HEADER_BLOCK = 3  # labels that make a header block; one or two may be "My move: flip"
HEADER_BLOCK_LINES = 6  # among which these are counted; a long header is broken into several lines
SIGNATURE_LINE = re.compile(r"(--|—|––|_{2,})$")
# Lines that phones and virus scanners add below a text.
DEVICE_LINE = re.compile(
    r"(Sent (from|via|with|using)\b|Get Outlook for|Verstuurd (vanaf|met|via|vanuit)|Verzonden (vanaf|via|met|vanuit)|"
    r"Outlook voor .* downloaden|Download Outlook|Envoyé (de|depuis|à partir|avec|via)\b|Télécharg\w+ Outlook|"
    r"(Von|Mit|Aus) .{2,60} gesendet|Gesendet (von|mit|über|aus|via)\b|Holen Sie sich Outlook|"
    r"Enviado (desde|do|a partir)\b|Inviato da\w*\b|Wysłan[eo] z\b|Odesláno z\b|Skickat från\b|Sendt fra\b|"
    r"Lähetetty \w+sta(ni)?\b|Отправлено (с|из)\b|(iPhone|iPad|Galaxy)\S*( \w+)? (küldve|gönderildi)$|\w+から送信$|"
    r"发自我的|.{2,60}<https://aka\.ms/\w+>$|Diese Nachricht wurde von .* gesendet|Obtenez Outlook|"
    r"Virus-?free|Virenfrei|Virusvrij|Sans virus)",
    re.IGNORECASE,
)
# Footers of companies. The first kind has to be a long line: a short one may be talk about a confidential matter.
FOOTER = re.compile(
    r"(?=.{60}).*\b(confidential|vertrouwelijk|confidentiel|vertraulich|intended recipient|geadresseerde|destinataire|"
    r"confidencia[li]|riservat|destinat[aá]rio|poufn|adresat|důvěrn|konfidentiell|fortrolig|luottamuksel|конфиденциальн)"
    r"|disclaimer\b|.*gescannt? .*viren|.*checked for viruses",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"%\(\w+\)s")
# A shorter sentence of a letter may be an answer: "resign yes", "abandonner oui". With punctuation at its end, it may
# be shorter.
MIN_SENTENCE_CHARS, MIN_PUNCTUATED_CHARS = 15, 10
LETTER_FOLDERS = (TEMPLATES / "mail", Path(__file__).parents[1] / "outgoing")


def list_own_lines(message: Message, remarks: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the lines that the sender typed, without empty ones; `remarks` of others may be in quoted letters."""
    lines = _cut_at_letter([line for line in _iter_part_lines(message, depth=0, remarks=remarks) if line])
    return tuple(line[:MAX_LINE_CHARS] for line in lines[:MAX_LINES])


def _cut_at_letter(lines: list[str]) -> list[str]:
    """Return the lines above a letter of Depesche that is quoted without marks.

    If there is only a link or a receipt, the letter is in an unknown language, and only the first line is returned.
    """
    start = find_letter(lines)
    if start is not None:
        return lines[: _find_labels_above(lines, start)]
    has_mark = any(LETTER_MARK.search(line) for line in lines)
    return lines[:1] if has_mark else lines


def _find_labels_above(lines: Sequence[str], start: int) -> int:
    """Return the line where the headers above a quoted letter begin; if it has none, `start`, where the letter does."""
    end = start  # of the headers: there may be empty lines below them
    while end and not lines[end - 1]:
        end -= 1
    first = end
    while first and LABEL.match(lines[first - 1]):
        first -= 1
    return first if end - first >= MIN_HEADER_BLOCK else start


def find_letter(lines: Sequence[str]) -> int | None:
    """Return the number of the first line with a sentence of a letter of Depesche; None if there is none.

    A mail program may have wrapped the sentence.
    """
    folded = [line.casefold() for line in lines]
    text = " ".join(folded)
    starts = [text.find(sentence) for sentence in _list_letter_sentences()]
    places = [start for start in starts if start >= 0]
    if not places:
        return None
    distance = min(places)  # from the beginning of a line to the sentence; of the first line, to begin with
    for number, line in enumerate(folded):
        if distance <= len(line):
            return number
        distance -= len(line) + 1  # and the blank between lines
    return None


@functools.cache
def _list_letter_sentences() -> tuple[str, ...]:
    """The longest fixed part of each sentence of each letter, in every language."""
    parts = {max(PLACEHOLDER.split(message), key=len).strip() for message in _iter_letter_messages()}
    return tuple(part for part in parts if part and _is_no_answer(part))


def _is_no_answer(sentence: str) -> bool:
    """Return whether a sentence of a letter is too long to be an answer."""
    min_chars = MIN_PUNCTUATED_CHARS if sentence[-1] in ".:!?" else MIN_SENTENCE_CHARS
    return len(sentence) >= min_chars


def _iter_letter_messages() -> Iterator[str]:
    """Yield each message of letters, from their templates and the code that writes them, in every language."""
    from service.text.translation_catalogues import iter_messages  # 1 MB that a server without mails does not need

    for path in (path for folder in LETTER_FOLDERS for path in folder.glob("*.*")):
        for message in iter_messages(path):
            forms = (message,) if isinstance(message, str) else message  # singular and plural
            for form, language in product(forms, LANGUAGES):
                yield " ".join(load_translations(language).gettext(form).casefold().split())


def _iter_part_lines(part: Message, depth: int, remarks: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a part. Of several alternatives the first with any line counts."""
    kind = part.get_content_type()
    has_name = depth > 0 and part.get_filename()  # a name of the whole mail says nothing
    is_file = part.get_content_disposition() == "attachment" or has_name
    if depth > MAX_DEPTH or is_file or kind.startswith("message/"):
        return
    if part.is_multipart():
        for child in _list_children(part):
            lines = list(_iter_part_lines(child, depth + 1, remarks))
            yield from lines
            if lines and kind == "multipart/alternative":
                return
    elif kind == "text/plain":
        yield from iter_unquoted(_join_flowed(part, decode_text(part)), remarks)
    elif kind == "text/html":
        yield from iter_unquoted(html_text.extract_text(decode_text(part)), remarks)


def _list_children(part: Message) -> list[Message]:
    """The parts to read: plain text before its alternatives, and of a page with pictures only the page."""
    payload: Any = part.get_payload()
    children = [child for child in payload if isinstance(child, Message)]
    if part.get_content_type() == "multipart/related":
        return children[:1]
    if part.get_content_type() == "multipart/alternative":
        return sorted(children, key=lambda child: child.get_content_type() != "text/plain")
    return children


def decode_text(part: Message) -> str:
    """Decode the text of a part, also if it names a wrong charset; its control characters become blanks."""
    return blank_controls(_decode(part))[:MAX_PART_CHARS]


def _decode(part: Message) -> str:
    """Decode the text of a part with the first charset that fits; Latin-1 fits everything."""
    payload = part.get_payload(decode=True)
    raw = payload[: 4 * MAX_PART_CHARS] if isinstance(payload, bytes) else b""  # at most four bytes a character
    named = (part.get_content_charset() or "").strip()
    charsets = ("utf-8", named, "cp1252") if OFTEN_WRONG_CHARSET.match(named) else (named, "utf-8", "cp1252")
    for charset in charsets:
        try:
            return raw.decode(charset or "utf-8")
        except (LookupError, ValueError):
            continue
    return raw.decode("latin-1")


def _join_flowed(part: Message, text: str) -> str:
    """Join lines that were broken only for sending (RFC 3676), but none to the words above a quotation."""
    if str(part.get_param("format", "")).casefold() != "flowed":
        return text
    deletes_space = str(part.get_param("delsp", "")).casefold() == "yes"
    lines: list[str] = []
    goes_on = False  # whether the line before ends with a blank: then it was broken there
    for broken in text.splitlines():
        line = broken.removeprefix(" ")  # which is sent before a line that begins with “>”, “From ” or a blank
        is_whole = bool(QUOTE_MARK.match(line)) or line == "-- "
        if goes_on and not is_whole and not _begins_quotation(line):
            if deletes_space:
                lines[-1] = lines[-1].removesuffix(" ")
            lines[-1] += line
        else:
            lines.append(line)
        goes_on = line.endswith(" ") and not is_whole
    return "\n".join(lines)


def _begins_quotation(line: str) -> bool:
    """Return whether a line begins the words above a quotation."""
    if DIVIDER.match(line) or HEADER_LABEL.match(line):
        return True
    if not DATE_OR_ADDRESS.search(line):
        return False
    return bool(ATTRIBUTION.match(line[:MAX_ATTRIBUTION_CHARS]) or WRAPPED_ATTRIBUTION.match(line))


def iter_unquoted(text: str, remarks: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a text without quotations, the words above them, signatures and footers.

    First copies of our letter are cut: a remark of another player in it may look like the end of a quotation, and what
    follows like the sender's own lines.
    """
    pgp_text = PGP_TEXT.match(text)
    if pgp_text:
        text = re.sub(r"^- ", "", pgp_text[1], flags=re.MULTILINE)
    lines = _cut_copy([_clean_line(line) for line in text.splitlines()], remarks)
    place = 0
    while place < len(lines):
        line = lines[place]
        end = _find_end_of_quote_heading(lines, place)
        if end is not None:
            if not _is_quote_next(lines, end):
                return  # the quotation has no marks, so nothing below shows where it ends
            place = end
            continue
        if SIGNATURE_LINE.match(line):
            place = _find_next_quote(lines, place)
            continue
        if FOOTER.match(line):
            return
        if line and not QUOTE_MARK.match(line) and not DEVICE_LINE.match(line):
            yield BOLD.sub(r"\2", line)
        place += 1


def _cut_copy(lines: list[str], remarks: Sequence[str]) -> list[str]:
    """Return the lines above an unmarked copy of our letter.

    In a marked copy, lines that continue one of the other players' `remarks` become empty: some programs break long
    lines, and mark only their beginning.
    """
    is_marked = [bool(QUOTE_MARK.match(line)) for line in lines]
    start = find_letter(["" if marked else line for line, marked in zip(lines, is_marked, strict=True)])
    if start is not None:
        lines = lines[: _find_labels_above(lines, start)]
    plain_remarks = [f" {' '.join(remark.split())} " for remark in remarks]
    rest: list[str] = []
    is_after_mark = False
    for line, marked in zip(lines, is_marked, strict=False):  # up to the cut
        continues_remark = is_after_mark and any(f" {line} " in remark for remark in plain_remarks)
        rest.append("" if continues_remark else line)
        is_after_mark = marked
    return rest


def _find_end_of_quote_heading(lines: list[str], place: int) -> int | None:
    """Return where the heading of a quotation ends that begins at this place; None if none begins here.

    The heading is a divider, a block of headers, or an attribution such as "On 3 Feb 2027, Anna wrote:".
    """
    if DIVIDER.match(lines[place]):
        return place + 1
    if _begins_header_block(lines, place):
        return _find_empty_line(lines, place)
    if DATE_OR_ADDRESS.search(lines[place]):
        return _find_end_of_attribution(lines, place)
    return None


def _begins_header_block(lines: list[str], place: int) -> bool:
    """Return whether the headers of a quoted mail begin here; lines between them may continue a long header."""
    if not HEADER_LABEL.match(lines[place]):
        return False
    labels = [line for line in lines[place : place + HEADER_BLOCK_LINES] if HEADER_LABEL.match(line)]
    return len(labels) >= MIN_HEADER_BLOCK


def _find_empty_line(lines: list[str], start: int) -> int:
    """Return the first empty line from this one on; the number of lines if there is none."""
    for place in range(start, len(lines)):
        if not lines[place]:
            return place
    return len(lines)


def _find_end_of_attribution(lines: list[str], place: int) -> int | None:
    """Return where an attribution ends that begins at this place; None if none does.

    A known attribution may be wrapped, up to an empty or a quoted line. Otherwise any language is tried.
    """
    max_lines = MAX_WRAPPED_LINES if WRAPPED_ATTRIBUTION.match(lines[place]) else 1
    wrapped: list[str] = []
    for line in lines[place : place + max_lines]:
        if not line or QUOTE_MARK.match(line):
            break
        wrapped.append(line)
        if ATTRIBUTION.match(" ".join(wrapped)[:MAX_ATTRIBUTION_CHARS]):
            return place + len(wrapped)
    return _find_end_in_any_language(lines, place)


def _find_end_in_any_language(lines: list[str], place: int) -> int | None:
    """Return where an attribution in any language ends; None unless the lines right below it are marked as quoted."""
    first = lines[place]
    if ANY_ATTRIBUTION.match(first) and _is_quote_next(lines, place + 1):
        return place + 1
    second = lines[place + 1] if place + 1 < len(lines) else ""
    if YEAR.search(first) and second and ANY_ATTRIBUTION.match(f"{first} {second}"):  # wrapped into two lines
        return place + 2 if _is_quote_next(lines, place + 2) else None
    return None


def _is_quote_next(lines: list[str], place: int) -> bool:
    """Return whether the next line that is not empty is marked as quoted; then the sender may go on below it."""
    for line in lines[place:]:
        if line:
            return bool(QUOTE_MARK.match(line))
    return False


def _find_next_quote(lines: list[str], place: int) -> int:
    """Return the first later line that is quoted or begins a quotation's heading; without one, the number of lines."""
    for at in range(place + 1, len(lines)):
        if QUOTE_MARK.match(lines[at]) or _find_end_of_quote_heading(lines, at) is not None:
            return at
    return len(lines)


def _clean_line(line: str) -> str:
    """Normalize a line: composed letters, single blanks, no invisible characters; empty if its order is reversed."""
    if DIRECTION_MARK.search(line):
        return ""
    composed = unicodedata.normalize("NFC", line[: 4 * MAX_LINE_CHARS])  # it may become shorter below
    visible = "".join(
        " " if unicodedata.category(letter) in BLANK_CATEGORIES else letter
        for letter in composed
        if unicodedata.category(letter) not in INVISIBLE_CATEGORIES
    )
    return " ".join(visible.split())
