"""Extracts the visible text of an HTML mail, without what its mail program marks as a quotation or a signature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


MAX_HTML_CHARS = 60_000  # the answer is above what it quotes
MAX_STYLE_CHARS = 2_000
# HTML opens these again in every block that follows them unclosed, so that 60 kB could grow to gigabytes. They are
# renamed before they are parsed: to `x-b`, for instance, an element that means nothing to the parser.
FORMATTING_TAG = re.compile(r"(</?)(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE)
BLOCKS = frozenset(
    "address article blockquote br center dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li ol p pre section "
    "table tbody tr ul".split()
)
# Their content is not for reading, or is shown only by programs that cannot show the thing itself.
UNSEEN_TAGS = frozenset(
    "audio canvas datalist del details dialog head iframe meter noembed noframes object progress x-s script select "
    "x-strike style svg template textarea title video".split()
)
QUOTATION_MARK = re.compile(
    r"\b(x_)*(gmail_quote|gmail_quote_container|gmail_signature|yahoo_quoted|protonmail_quote|protonmail_signature_block|"
    r"moz-signature|moz-cite-prefix|gmail_attr|AppleMailSignature|ms-outlook-mobile-signature|Signature|zmail_extra|"
    r"tutanota_quote|OutlookMessageHeader|depesche-letter)\b"
)
REST_MARK = re.compile(
    r"\b(x_)*(divRplyFwdMsg|appendonsend|ms-outlook-mobile-reference-message|mail-editor-reference-message)"
)
# Text that is hidden by its style was not typed into a mail program.
HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|mso-hide\s*:\s*all|line-through|clip-path\s*:(?!\s*none)"
    r"|(?<![\w-])color\s*:\s*(transparent|rgba\(([^,)]*,){3}\s*0*\.?0+%?\s*\)|[a-z]+\([^/)]*/\s*0*\.?0+%?\s*\))"
    r"|(?<![\w-])(font-size|max-height|max-width|height|width|opacity)\s*:\s*0*\.?0+(?![\d.])|opacity\s*:\s*0*\.0"
    r"|font-size\s*:\s*0*([0-3]?(\.\d+)?p[xt]|\.[0-2]\d*r?em|\d(\.\d+)?%)|(?<![\w-])font\s*:[^;]*(?<![\d./])0(p[xt]|em)?[/\s]"
    r"|(?<![\w-])(left|right|top|text-indent|margin-left)\s*:\s*-\d{3}|clip\s*:\s*rect\(\s*[01](px)?[\s,]"
    r"|opacity\(\s*0+%?\s*\)|scale[xy]?\(\s*0{1,9}(\.0{1,9})?\s*[,)]|translate(3d|[xy])?\([^)]*\d{3}",
    re.IGNORECASE,
)
COLOUR = re.compile(r"(?<![\w-])color\s*:([^;!]+)", re.IGNORECASE)
BACKGROUND = re.compile(r"(?<![\w-])background(?:-color)?\s*:([^;!]+)", re.IGNORECASE)
COLOUR_NAMES = {"white": "#ffffff", "black": "#000000"}
CSS_COMMENT = re.compile(r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
CSS_ESCAPE = re.compile(r"\\([0-9a-f]{1,4})\s?", re.IGNORECASE)
CSS_RULE = re.compile(r"([^{}]{1,400})\{([^{}]{0,2000})\}")
CLASS_OR_ID = re.compile(r"[.#]([\w-]{1,80})")
TAG_NAME = re.compile(r"[a-z]\w*", re.IGNORECASE)
COMBINATOR = re.compile(r"[\s>+~]+")
DIVIDER = re.compile(r"border:\s*none;\s*border-top:\s*solid\s*#(E1E1E1|B5C4DF)", re.IGNORECASE)


def extract_text(html: str) -> str:
    """Return the visible text of an HTML mail, one line for each of its lines, and a line `>` for each quotation."""
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser  # 2 MB that mails in HTML need

    # The parser would open a tag such as `<b>` that is never closed again in each block below; `<x-b>` it does not.
    html = FORMATTING_TAG.sub(r"\1x-\2", html[:MAX_HTML_CHARS])
    document = LexborHTMLParser(html.encode(errors="replace"), options=LexborDocumentOptions.WO_EVENTS)
    sheets = [style.text(deep=False) for style in document.css("style")]
    return "".join(_iter_visible(document.root, _list_hidden_names(sheets)))


def _iter_visible(root: LexborNode | None, hidden_names: frozenset[str]) -> Iterator[str]:
    """Yield the visible text below a node, up to the divider that mail programs put above the quoted mail.

    Each quotation before that becomes a line `>`.
    """
    stack: list[LexborNode | str] = [root] if root is not None else []  # the next one to visit is the last
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
            continue
        if node.is_text_node:
            yield re.sub(r"\s+", " ", node.text_content or "")
            continue
        names = _list_names(node)
        if REST_MARK.search(" ".join(names)) or DIVIDER.match(node.attributes.get("style") or ""):
            return
        if node.tag == "blockquote" or QUOTATION_MARK.search(" ".join(names)):
            yield "\n>\n"
        elif not _is_hidden(node, names, hidden_names):
            line_break = "\n" if node.tag in BLOCKS else ""
            stack += [line_break, *reversed(list(node.iter(include_text=True))), line_break]


def _list_names(node: LexborNode) -> list[str]:
    """Return the classes of an element, and its id, which style sheets call it by."""
    return [name for key in ("class", "id") for name in (node.attributes.get(key) or "").split()]


def _is_hidden(node: LexborNode, names: list[str], hidden_names: frozenset[str]) -> bool:
    """Return whether an element is invisible by its tag, by its attributes, or by a style sheet.

    `names` are its classes and its id. `hidden_names` has classes, ids, `<tag>`, and `*` for all elements.
    """
    if node.tag in UNSEEN_TAGS or "hidden" in node.attributes or hides(node.attributes.get("style") or ""):
        return True
    tag = (node.tag or "").removeprefix("x-")  # with which `extract_text` renames some tags
    return bool(hidden_names & {*names, f"<{tag}>", "*"})


def hides(style: str) -> bool:
    """Return whether an element with this CSS style is invisible."""
    uncommented = CSS_COMMENT.sub("", style[:MAX_STYLE_CHARS])
    plain = CSS_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), uncommented)
    colour, background = COLOUR.search(plain), BACKGROUND.search(plain)
    if colour and background and _parse_colour(colour[1]) == _parse_colour(background[1]):
        return True
    return bool(HIDING_STYLE.search(plain))


def _parse_colour(text: str) -> str:
    """Return a colour as `#rrggbb`, or as it is written if it is written in no common way."""
    plain = "".join(text.casefold().split())
    if plain.startswith("rgb("):
        parts = re.findall(r"\d{1,3}", plain)
        return "#" + "".join(f"{int(part):02x}" for part in parts)
    short = re.fullmatch(r"#([0-9a-f])([0-9a-f])([0-9a-f])", plain)
    if short:
        return "#" + "".join(2 * digit for digit in short.groups())
    return COLOUR_NAMES.get(plain, plain)


def _list_hidden_names(sheets: Iterable[str]) -> frozenset[str]:
    """The classes, ids and tags (as `<p>`, or `*` for all) that style sheets hide."""
    rules = [rule for sheet in sheets for rule in CSS_RULE.findall(sheet)]
    names: set[str] = set()
    for selectors, style in rules:
        if hides(style):
            for selector in selectors.split(","):
                names.update(_list_last_names(selector))
    return frozenset(names)


def _list_last_names(selector: str) -> list[str]:
    """The classes and ids in the last part of a selector; if it has none, its tag as `<p>`, or `*` without a tag.

    The parts before it are ignored: in doubt too much is hidden.
    """
    last = COMBINATOR.split(selector.strip())[-1]
    classes_and_ids = CLASS_OR_ID.findall(last)
    if classes_and_ids:
        return classes_and_ids
    tag = TAG_NAME.match(last)
    return [f"<{tag[0].casefold()}>" if tag else "*"]
