"""Letters as templates show them, and the request for a letter."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from msgspec import Struct

from service.text.drawing import Player
from service.timing import Clock
from workers.outgoing.suggestions import Answers


class LetterRequest(Struct, frozen=True):
    """A letter to be written: about which seat of which table, or to which person, and how its reader wants it.

    `seq` is the entry that the letter follows. A letter to a person about no single seat has an empty `table`.
    `sentence` is a stored sentence to put into the letter, and `calendar` the stored calendar of the reader.
    """

    table: str
    seq: int
    seat: int
    kind: str
    address: str
    name: str
    language: str = "en"
    sentence: str = ""
    person: int = 0
    plain: bool = False
    calendar: str = ""
    has_chosen_language: bool = True
    settings_number: int = 0  # of the link to the letter settings

    @property
    def kind_name(self) -> str:
        """The kind without the part after the slash."""
        return self.kind.partition("/")[0]

    @property
    def kind_detail(self) -> str:
        """The part after the slash, such as the number of a mail, or a day; empty without one."""
        return self.kind.partition("/")[2]


class QuotedRemark(Struct, frozen=True):
    """A player's remark at the table."""

    name: str
    text: str


class LegendEntry(Struct, frozen=True):
    """A player in the legend under the board."""

    name: str
    colour: str
    character: str


class LetterPicture(Struct, frozen=True):
    """A picture in the HTML: the name of its file, its Content-ID, the drawing, and its description."""

    name: str
    cid: str
    svg: str
    alt: str


class BoardSection(Struct, frozen=True):
    """The board as the reader sees it; a plain letter has no picture."""

    text: str
    legend: tuple[LegendEntry, ...]
    picture: LetterPicture | None


class RecentEvents(Struct, frozen=True):
    """The events since the reader's last move, and the reader's own last turn.

    `earlier` says how many entries are left out, `latest` is the first sentence about the last entry.
    """

    own: tuple[str, ...]
    sentences: tuple[str, ...]
    from_the_start: bool
    earlier: str
    latest: str


class PlaceRow(Struct, frozen=True):
    """A player's place in the result."""

    place: int
    name: str
    score: int | None


class Result(Struct, frozen=True):
    """The result of a game; `score_word` says what the scores count, if their number does not explain itself."""

    rows: tuple[PlaceRow, ...]
    score_word: str


def make_mailto(address: str, subject: str, text: str) -> str:
    """Return the link that opens a mail with its recipient, subject and text filled in (RFC 6068)."""
    return f"mailto:{quote(address, safe='@+')}?{urlencode({'subject': subject, 'body': text}, quote_via=quote)}"


class AnswerLinks(Struct, frozen=True):
    """The two ways to answer with one tap: the table's page with a move, and a mail with it.

    `mark` is what each subject ends with. `turn` is the entry that began the turn, 0 without one; the subject of the
    mail names it.
    """

    page: str
    address: str
    mark: str
    subject: str
    turn: int

    def link_to_move(self, move: str) -> str:
        """Return the page with a move prepared to be confirmed; it says so if that turn is over."""
        return f"{self.page}?{urlencode({'say': move, 'turn': self.turn})}"

    def link_to_mail(self, text: str) -> str:
        """Return the link that opens a mail to the table with these words."""
        subject = f"{self.subject} #{self.turn}" if self.turn else self.subject
        return make_mailto(self.address, subject, text)


class TableSection(Struct, frozen=True):
    """The part of a letter that every kind has: news of the table. A part that is empty or None is left out.

    `rules` and `replay` are addresses of pages. `notice` is the sentence that was stored with the request. `commands`
    are those that an answer may contain, separated by commas; there are none if the letter asks for no answer.
    """

    title: str
    links: AnswerLinks
    rules: str
    replay: str
    players: tuple[Player, ...]
    notice: str
    result: Result | None
    events: RecentEvents | None
    talk: tuple[QuotedRemark, ...]
    board: BoardSection | None
    commands: str
    say: str  # the word that begins a remark


class Footer(Struct, frozen=True):
    """The foot of a letter from a table: the receipt of the log of so many entries, and why the letter comes."""

    receipt: str
    length: int
    reason: str
    settings_link: str


class LanguageLink(Struct, frozen=True):
    """A language, and the page that chooses it for the reader's letters."""

    name: str
    link: str


class Invitation(Struct, frozen=True):
    """The game that the reader is invited to; `asks_to_sit` is whether the reader has still to take the seat.

    `changes` are the options that are not the usual ones.
    """

    about: str
    players: str
    changes: tuple[str, ...]
    clock: Clock
    has_beacon: bool
    welcome: str
    asks_to_sit: bool


class OfferedSeat(Struct, frozen=True):
    """A seat that a substitute can take, and the link to it."""

    text: str
    link: str


class HelpLine(Struct, frozen=True):
    """A command that a mail may contain, and its meaning."""

    command: str
    meaning: str


class AnsweredLine(Struct, frozen=True):
    """The result of one line of the reader's mail: whether it was played, and whether it was a move of the game.

    `quote` is the line, `answers` are lines that the reader may answer with, and `guess` is the move that a misspelt
    line may have meant.
    """

    is_played: bool
    is_move: bool
    quote: str
    outcome: str
    rule: str
    rule_link: str
    answers: tuple[str, ...]
    guess: str
    help: tuple[HelpLine, ...]


class ChartRow(Struct, frozen=True):
    """A player's numbers in a text: a row of small bars."""

    bars: str
    name: str


class ChartSection(Struct, frozen=True):
    """A chart, in text and as a picture."""

    heading: str
    rows: tuple[ChartRow, ...]
    picture: LetterPicture | None


class Review(Struct, frozen=True):
    """The last letter's look back at the game; a game that was given up has only its seed."""

    seed: str  # in hexadecimal digits
    scores: ChartSection | None = None
    chances: ChartSection | None = None
    turning_points: tuple[str, ...] = ()
    chance_balance: str = ""


class Body(Struct, frozen=True, kw_only=True):
    """The part of a letter that depends on its kind. A section that is empty or None is left out.

    `question` says how to answer a question of the other players with one of the words `replies`, `undone` are the
    moves that they want to take back.
    """

    headline: str
    button: str
    shows_title: bool = True
    deadline: str = ""
    question: str = ""
    replies: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    report: tuple[AnsweredLine, ...] = ()
    invitation: Invitation | None = None
    languages: tuple[LanguageLink, ...] = ()
    explanation: str = ""
    offers: tuple[OfferedSeat, ...] = ()
    answers: Answers | None = None
    review: Review | None = None


class Letter(Struct, frozen=True):
    """A letter about a table: the title of its game, its body, news of the table, and its foot."""

    title: str
    body: Body
    table: TableSection
    footer: Footer

    @property
    def preview(self) -> str:
        """The text that a mail program shows before the letter is opened."""
        news = self.table.events.latest if self.table.events else ""
        return " ".join(filter(None, (self.body.headline, self.body.deadline, news)))

    @property
    def pictures(self) -> tuple[LetterPicture, ...]:
        """All pictures of the letter."""
        review = self.body.review
        charts = (review.scores, review.chances) if review else ()
        sections = (self.table.board, *charts)
        return tuple(one.picture for one in sections if one is not None and one.picture is not None)


class DigestTurn(Struct, frozen=True):
    """A table in the digest that waits for the reader.

    `sentences` are the last events, `earlier` says how many are left out, and `talk` are the others' remarks since the
    reader's last move. The most urgent tables have their board and moves.
    """

    heading: str
    link: str
    deadline: str = ""
    earlier: str = ""
    sentences: tuple[str, ...] = ()
    talk: tuple[QuotedRemark, ...] = ()
    links: AnswerLinks | None = None
    board: BoardSection | None = None
    answers: Answers | None = None


class PersonalLetter(Struct, frozen=True, kw_only=True):
    """A letter to a person. A part that is empty is left out."""

    title: str = ""
    subject: str
    headline: str
    text: str
    button: str = ""
    link: str = ""
    reason: str
    turns: tuple[DigestTurn, ...] = ()
    more: str = ""
    settings_link: str = ""
    reply_to: str = ""

    @property
    def pictures(self) -> tuple[LetterPicture, ...]:
        """The boards of the letter."""
        return tuple(turn.board.picture for turn in self.turns if turn.board and turn.board.picture)
