"""The text of an HTML mail, what its mail program marks as quoted or signed left out."""

from __future__ import annotations

import re
from html import unescape

BLOCKS = frozenset(
    "address article blockquote br center dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li ol p pre section "
    "table tbody tr ul".split()
)
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# Nothing in these is for reading, or it is shown only by programs that cannot show the thing itself.
UNSEEN = frozenset(
    "audio canvas datalist del details dialog head iframe meter noembed noframes object progress s script select "
    "strike style svg template textarea title video".split()
)
MARKED = re.compile(
    r"\b(x_)*(gmail_quote|gmail_quote_container|gmail_signature|yahoo_quoted|protonmail_quote|protonmail_signature_block|"
    r"moz-signature|moz-cite-prefix|gmail_attr|AppleMailSignature|ms-outlook-mobile-signature|Signature|zmail_extra|"
    r"tutanota_quote|OutlookMessageHeader|depesche-letter)\b"
)
LAST = re.compile(
    r"\b(x_)*(divRplyFwdMsg|appendonsend|ms-outlook-mobile-reference-message|mail-editor-reference-message)"
)
# What a style or an attribute hides from the eye was never typed into a mail program.
HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|mso-hide\s*:\s*all|line-through|clip-path\s*:(?!\s*none)"
    r"|(?<![\w-])color\s*:\s*(transparent|rgba\(([^,)]*,){3}\s*0*\.?0+%?\s*\)|[a-z]+\([^/)]*/\s*0*\.?0+%?\s*\))"
    r"|(?<![\w-])(font-size|max-height|max-width|height|width|opacity)\s*:\s*0*\.?0+(?![\d.])|opacity\s*:\s*0*\.0"
    r"|font-size\s*:\s*0*([0-3]?(\.\d+)?p[xt]|\.[0-2]\d*r?em|\d(\.\d+)?%)|(?<![\w-])font\s*:[^;]*(?<![\d./])0(p[xt]|em)?[/\s]"
    r"|(?<![\w-])(left|right|top|text-indent|margin-left)\s*:\s*-\d{3}|clip\s*:\s*rect\(\s*[01](px)?[\s,]"
    r"|opacity\(\s*0+%?\s*\)|scale[xy]?\(\s*0{1,9}(\.0{1,9})?\s*[,)]|translate(3d|[xy])?\([^)]*\d{3}",
    re.IGNORECASE,
)
INK = re.compile(r"(?<![\w-])color\s*:([^;!]+)", re.IGNORECASE)
PAPER = re.compile(r"(?<![\w-])background(?:-color)?\s*:([^;!]+)", re.IGNORECASE)
NAMED = {"white": "#ffffff", "black": "#000000"}
REMARK = re.compile(r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
ESCAPE = re.compile(r"\\([0-9a-f]{1,4})\s?", re.IGNORECASE)
SHEET = re.compile(r"<style\b[^>]{0,400}>([^<]{0,40000})", re.IGNORECASE)
RULE = re.compile(r"([^{}]{1,400})\{([^{}]{0,2000})\}")
CALLED = re.compile(r"[.#]([\w-]{1,80})")
COMBINED = re.compile(r"[\s>+~]+")
HIDDEN = re.compile(r"\shidden(?=[\s=/]|$)", re.IGNORECASE)
DIVIDER = re.compile(r"border:\s*none;\s*border-top:\s*solid\s*#(E1E1E1|B5C4DF)", re.IGNORECASE)
TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]{0,30})((?:\s|/)[^<>]{0,4000})?>|<[!?][^<>]{0,4000}>")
COMMENT = re.compile(r"<!--(?:(?!<!--|-->)[\s\S])*-->")
ATTRIBUTE = re.compile(r"([a-zA-Z-]{1,40})\s{0,9}=\s{0,9}(\"[^\"]*\"|'[^']*'|[^\s\"']+)")
STRINGS = re.compile(r"\"[^\"]*\"|'[^']*'")
DEEPEST = 60  # open tags; what is deeper is shown or hidden as the tag around it
LONGEST = 60_000  # characters; an answer stands above what it quotes
LONGEST_STYLE = 2_000


class _Text:
    """Collects the visible text; a line `>` replaces a quotation."""

    def __init__(self, hidden: frozenset[str]) -> None:
        self.said: list[str] = []
        self._hidden = hidden
        self._open: list[tuple[str, bool]] = []
        self._unseen = 0
        self.ended = False

    def begin(self, tag: str, attributes: str) -> None:
        given = {found[1].casefold(): found[2].strip("\"'") for found in ATTRIBUTE.finditer(attributes)}
        marks = f"{given.get('class', '')} {given.get('id', '')}"
        self._break(tag)
        if not self._unseen and (LAST.search(marks) or DIVIDER.match(given.get("style", ""))):
            self.ended = True
        if tag in VOID or attributes.endswith("/") or len(self._open) >= DEEPEST:
            return
        quoted = tag == "blockquote" or bool(MARKED.search(marks))
        if quoted and not self._unseen:
            self.said.append("\n>\n")
        hidden = _hides(unescape(given.get("style", ""))) or bool(HIDDEN.search(STRINGS.sub("", attributes)))
        hidden = hidden or not self._hidden.isdisjoint((*marks.split(), f"<{tag}>", "*"))
        unseen = quoted or hidden or tag in UNSEEN
        self._open.append((tag, unseen))
        self._unseen += unseen

    def end(self, tag: str) -> None:
        if any(tag == name for name, _ in self._open):
            name = ""
            while name != tag:
                name, unseen = self._open.pop()
                self._unseen -= unseen
        self._break(tag)

    def write(self, words: str) -> None:
        if not self._unseen:
            self.said.append(re.sub(r"\s+", " ", unescape(words)))

    def _break(self, tag: str) -> None:
        if tag in BLOCKS and not self._unseen:
            self.said.append("\n")


def text(html: str) -> str:
    """The visible text of this HTML, one line for each of its lines; takes linear time."""
    html = COMMENT.sub("", html[:LONGEST])
    found, place = _Text(_hidden_by_sheets(html)), 0
    for tag in TAG.finditer(html):
        found.write(html[place : tag.start()])
        place = tag.end()
        if tag[2] and tag[1]:
            found.end(tag[2].casefold())
        elif tag[2]:
            found.begin(tag[2].casefold(), tag[3] or "")
        if found.ended:
            return "".join(found.said)
    found.write(html[place:])
    return "".join(found.said)


def _hides(style: str) -> bool:
    """Whether nothing can be seen of what has this style."""
    plain = ESCAPE.sub(lambda found: chr(int(found[1], 16)), REMARK.sub("", style[:LONGEST_STYLE]))
    ink, paper = INK.search(plain), PAPER.search(plain)
    return bool(HIDING.search(plain) or (ink and paper and _colour(ink[1]) == _colour(paper[1])))


def _colour(said: str) -> str:
    """A colour in one of the ways to write it; an unknown one as it stands."""
    plain = "".join(said.casefold().split())
    if plain.startswith("rgb("):
        parts = re.findall(r"\d{1,3}", plain)
        return "#" + "".join(f"{int(part):02x}" for part in parts)
    short = re.fullmatch(r"#([0-9a-f])([0-9a-f])([0-9a-f])", plain)
    return "#" + "".join(2 * digit for digit in short.groups()) if short else NAMED.get(plain, plain)


def _hidden_by_sheets(html: str) -> frozenset[str]:
    """What a style sheet in the mail hides: classes, ids, tags as `<p>`, or everything as `*`."""
    rules = (rule for sheet in SHEET.findall(html) for rule in RULE.findall(sheet))
    hiding = (selectors.split(",") for selectors, said in rules if _hides(said))
    return frozenset(name for selectors in hiding for selector in selectors for name in _ends_at(selector))


def _ends_at(selector: str) -> list[str]:
    """What the last part of a selector is about, whatever it has to stand in: in doubt too much is hidden."""
    last = COMBINED.split(selector.strip())[-1]
    tag = re.match(r"[a-z]\w*", last, re.IGNORECASE)
    return CALLED.findall(last) or ([f"<{tag[0].casefold()}>"] if tag else ["*"])
