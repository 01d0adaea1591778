"""The tables of the database; the migrations beside this file make them, and `rows.py` has their rows."""

from __future__ import annotations

import hashlib

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    false,
    text,
)

metadata = MetaData()
row_number = BigInteger().with_variant(Integer, "sqlite")


def _make_partial_index(
    name: str, *columns: str, where: str, in_postgresql: str | None = None, unique: bool = False
) -> Index:
    """Return an index of the rows that the condition `where` selects; PostgreSQL uses `in_postgresql` if it is given.

    The condition is set when the tables are created: an index that names PostgreSQL loads SQLAlchemy's code for it,
    22 ms and 2 MB that SQLite does not need.
    """
    return Index(name, *columns, unique=unique, info={"sqlite": where, "postgresql": in_postgresql or where})


@event.listens_for(metadata, "before_create")
def _set_conditions(_: MetaData, connection: Connection, **__: object) -> None:
    """Set the conditions of all indexes for the database in which they are created."""
    dialect = connection.dialect.name
    for table in metadata.tables.values():
        for index in table.indexes:
            if index.info:
                index.dialect_kwargs[f"{dialect}_where"] = text(index.info[dialect])


server_facts = Table(
    "server_facts", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False)
)

people = Table(
    "people",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("address", Text, nullable=False, unique=True),
    Column("mailbox", Text, nullable=False, server_default="", index=True),  # the same for all spellings of an address
    Column("name", Text, nullable=False),
    Column("language", Text, nullable=False, server_default="en"),
    Column("chose", Boolean, nullable=False, server_default=text("true")),  # whether the person chose the language
    Column("since", BigInteger, nullable=False),
    Column("calendar", Text, nullable=False, server_default=""),
    Column("letter_settings", Text, nullable=False, server_default=""),
    Column("confirmed_at", BigInteger),  # when it was proven that letters reach this person
    Column("bounced_at", BigInteger),  # since when they do not
    Column("bounce", Text, nullable=False, server_default=""),  # why
    Column("signed_at", BigInteger),  # when this person last signed in; sign-in letters before that are used up
    Column("sessions", Integer, nullable=False, server_default="0"),  # sign-in letters with a lower number are over
    Column("settings_number", Integer, nullable=False, server_default="0"),  # of the link to the letter settings
    Column("feeds_number", Integer, nullable=False, server_default="0"),  # of the addresses of calendar and feed
    Column("feeds_open", Boolean, nullable=False, server_default=false()),  # whether these addresses work
)

visits = Table(
    "visits",  # devices on which a person is signed in
    metadata,
    Column("key", Text, primary_key=True),  # the hash of what the cookie holds
    Column("person", row_number, ForeignKey("people.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("visits_person", "person"),
)

tables = Table(
    "tables",
    metadata,
    Column("id", Text, primary_key=True),
    Column("game", Text, nullable=False),
    Column("edition", Integer, nullable=False, server_default="1"),  # of the rules it was opened with
    Column("seats", Integer, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("commitment", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("length", Integer, nullable=False),  # of the log
    Column("head", Text, nullable=False),  # the hash of the last entry
    Column("pace", Integer, nullable=False),  # the seconds for a move
    Column("spectator_link", Text, nullable=False, unique=True),  # its hash
    Column("allows_spectators", Boolean, nullable=False, server_default=text("true")),
    Column("seeking", Boolean, nullable=False, server_default=false()),  # its free seats are offered in the lobby
    Column("shown", Boolean, nullable=False, server_default=false()),  # its game may be watched from the lobby
    # Whether its letters wait until the organiser confirms the address.
    Column("awaits_confirmation", Boolean, nullable=False, server_default=text("false")),
    Column("opened_at", BigInteger, nullable=False),
    Column("moved_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("draws_at", BigInteger),  # when to ask the beacon for the round that a command waits for
    Column("moved_to", Text, nullable=False, server_default=""),  # the server that the table was transferred to
    Column("opening", Text),  # the idempotency key: the same key opens no second table
    Column("visitor", Text, nullable=False, server_default=""),  # a keyed hash of the network it was opened from
    Column("last_remark", row_number, nullable=False, server_default="0"),  # the number of its last remark, if any
    Index("tables_opening", "opening", unique=True),
    # No index names what a move changes: so its row is changed in place, and all its indexes stay as they are.
    _make_partial_index("tables_seeking", "opened_at", where="seeking = 1", in_postgresql="seeking"),
    _make_partial_index(
        "tables_shown", "opened_at", where="shown = 1 AND ended_at IS NULL", in_postgresql="shown AND ended_at IS NULL"
    ),
    _make_partial_index("tables_draw", "draws_at", where="draws_at IS NOT NULL"),
)

seats = Table(
    "seats",
    metadata,
    Column("table", Text, ForeignKey("tables.id"), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("person", row_number, ForeignKey("people.id")),
    Column("name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("link", Text, nullable=False, unique=True),  # its hash
    Column("link_number", Integer, nullable=False),  # a new link has the next number
    Column("open_since", Integer),  # the entry with which its turn began
    Column("due_at", BigInteger),
    Column("remind_at", BigInteger),
    Column("late_at", BigInteger),
    Column("clock_from", BigInteger),
    Column("clock_left", BigInteger),
    Column("misses", Integer, nullable=False, server_default="0"),  # deadlines missed in a row
    Column("orders", Integer, nullable=False, server_default="0"),  # how many can still be carried out
    Column("letter_settings", Text, nullable=False, server_default=""),
    Column("note", Text, nullable=False, server_default=""),
    Column("released", Boolean, nullable=False, server_default=text("false")),  # whether the gallery may show the game
    Column("place", Integer),  # how it ended for this seat
    Column("level", Text, nullable=False, server_default=""),  # how strong its bot plays; empty is normal
    Column("proven", Boolean, nullable=False, server_default=false()),  # whether its holder has proven the address
    Column("seen_at", BigInteger),  # when its player was last at the table; empty if that is private
    _make_partial_index("seats_late", "late_at", where="late_at IS NOT NULL"),
    _make_partial_index("seats_remind", "remind_at", where="remind_at IS NOT NULL"),
    _make_partial_index("seats_stand_in", "table", where="open_since IS NOT NULL AND status IN ('bot', 'resigned')"),
    Index("seats_person", "person"),
    _make_partial_index("seats_released", "table", where="released = 1", in_postgresql="released"),
)

former_links = Table(
    "former_links",
    metadata,
    Column("link", Text, primary_key=True),  # the hash of a link that another server made for this table
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer),
)

vacations = Table(
    "vacations",
    metadata,
    Column("person", row_number, ForeignKey("people.id"), primary_key=True),
    Column("first", Text, primary_key=True),
    Column("last", Text, nullable=False),
)

orders = Table(
    "orders",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("move", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("branch", row_number),
    Column("after", Text, nullable=False, server_default=""),
    Index("orders_seat", "table", "seat"),
)

entries = Table(
    "entries",
    metadata,
    Column("table", Text, ForeignKey("tables.id"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("source", Text, nullable=False, server_default="player"),  # who chose the key
    Column("key", Text, nullable=False),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("move", Text, nullable=False),
    Column("seen", Integer),
    Column("by_mail", Boolean, nullable=False, server_default=text("false")),
    Column("at", BigInteger, nullable=False),
    Column("accepted", Boolean),
    Column("sentence", Text, nullable=False, server_default=""),
    Column("rule", Text, nullable=False, server_default=""),
    Column("seq", Integer),
    Column("tries", Integer, nullable=False, server_default="0"),
    UniqueConstraint("table", "seat", "source", "key", name="submissions_once"),
    _make_partial_index("submissions_open", "id", where="accepted IS NULL"),
)

letters = Table(
    "letters",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("table", Text, nullable=False, server_default=""),  # empty where it belongs to a person
    Column("seq", Integer),
    Column("seat", Integer),
    Column("person", row_number, ForeignKey("people.id", name="letters_person")),  # for letters that belong to no seat
    Column("kind", Text, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("sent_at", BigInteger),
    Column("outcome", Text, nullable=False, server_default=""),
    Column("recipient", row_number),  # the person that it was sent to: another may have the seat later
    Column("sentence", Text, nullable=False, server_default=""),
    UniqueConstraint("table", "seq", "seat", "kind", name="letters_once"),
    Index("letters_number", "id"),
    _make_partial_index("letters_owed", "due_at", where="sent_at IS NULL"),
    _make_partial_index("letters_personal", "table", "person", "kind", unique=True, where="person IS NOT NULL"),
)

channels = Table(
    "channels",  # further ways to a person, beside mail: a browser that shows notifications, or a webhook
    metadata,
    Column("id", row_number, primary_key=True),
    Column("person", row_number, ForeignKey("people.id"), nullable=False),
    Column("kind", Text, nullable=False),  # such as push; the key of its sender
    Column("table", Text, nullable=False, server_default=""),  # empty for all tables of the person
    Column("link_number", Integer, nullable=False, server_default="0"),  # of the seat's link, if it is for one table
    Column("label", Text, nullable=False),  # the person's name for it, such as “Firefox on Linux”
    Column("address", Text, nullable=False),
    Column("secret", Text, nullable=False, server_default=""),  # the keys of the other end, as its sender writes them
    Column("groups", Text, nullable=False),  # the groups of notices that it gets, separated by blanks
    Column("created_at", BigInteger, nullable=False),
    Column("ok_at", BigInteger),  # when it last took a notice
    Column("failures", Integer, nullable=False, server_default="0"),  # in a row
    Column("failing_since", BigInteger),
    Column("error", Text, nullable=False, server_default=""),
    Column("disabled_at", BigInteger),
    UniqueConstraint("person", "kind", "table", "address", name="channels_once"),
)

deliveries = Table(
    "deliveries",  # of a letter by a channel; the letter is the row of what is owed
    metadata,
    Column("id", row_number, primary_key=True),
    Column("letter", row_number, nullable=False),
    Column("table", Text, nullable=False),  # of the letter, whose key begins with it
    Column("channel", row_number, ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("ended_at", BigInteger),
    Column("outcome", Text, nullable=False, server_default=""),
    UniqueConstraint("letter", "channel", name="deliveries_once"),
    Index("deliveries_channel", "channel"),
    _make_partial_index("deliveries_due", "due_at", where="ended_at IS NULL"),
    Index("deliveries_ended", "ended_at"),
)

followers = Table(
    "followers",  # chats that follow a table, added by its organiser
    metadata,
    Column("id", row_number, primary_key=True),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("person", row_number, ForeignKey("people.id"), nullable=False),  # who added it
    Column("kind", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("secret", Text, nullable=False, server_default=""),
    Column("pictures", Boolean, nullable=False, server_default=false()),
    Column("language", Text, nullable=False),
    Column("next_seq", Integer, nullable=False),  # the first entry that is not sent
    Column("end_seq", Integer),  # where the message ends that is on its way, so that it stays the same when sent again
    Column("created_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("failing_since", BigInteger),
    Column("error", Text, nullable=False, server_default=""),
    Column("disabled_at", BigInteger),
    Column("sent", Integer, nullable=False, server_default="0"),  # messages that arrived
    Column("failed", Integer, nullable=False, server_default="0"),  # times that a message did not arrive
    UniqueConstraint("table", "address", name="followers_once"),
    Index("followers_person", "person"),
)

hints = Table(
    "hints",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("length", Integer, nullable=False),  # of the log when it was asked for
    Column("at", BigInteger, nullable=False),
    Column("move", Text, nullable=False, server_default=""),  # empty until it is found
    UniqueConstraint("table", "seat", "length", name="hints_once"),
    _make_partial_index("hints_waiting", "id", where="move = ''"),
)

stories = Table(
    "stories",
    metadata,
    Column("table", Text, ForeignKey("tables.id"), primary_key=True),
    Column("length", Integer, nullable=False),  # of the log that the story is about
    Column("at", BigInteger, nullable=False),
    Column("body", Text, nullable=False, server_default=""),  # empty until it is worked out
    _make_partial_index("stories_waiting", "at", where="body = ''"),
)

talk = Table(
    "talk",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
    Index("talk_table", "table", "id"),
)

branches = Table(
    "branches",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("name", Text, nullable=False, server_default=""),
    Column("seq", Integer, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("moves", Text, nullable=False, server_default="[]"),
    Column("at", BigInteger, nullable=False),
    Index("branches_seat", "table", "seat"),
)

mails = Table(
    "mails",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("table", Text, ForeignKey("tables.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("person", row_number, ForeignKey("people.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("message_id", Text, nullable=False, server_default=""),
    Column("answers", Integer),
    Column("lines", Text, nullable=False),
    Column("read_at", BigInteger),
    Column("answered_at", BigInteger),
    Column("report", Text, nullable=False, server_default=""),
    _make_partial_index("mails_waiting", "id", where="read_at IS NULL"),
    Index("mails_person", "person", "answered_at"),
    Index("mails_table", "table"),
)

refused_mails = Table(
    "refused_mails",  # mails that the database refused; the host sees why
    metadata,
    Column("id", row_number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("recipient", Text, nullable=False),  # without the proof in it
    Column("why", Text, nullable=False),
    Column("raw", LargeBinary, nullable=False),
)

mailbox = Table(
    "mailbox",
    metadata,
    Column("id", row_number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("recipient", Text, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Index("mailbox_recipient", "recipient"),
)


def make_revision(schema: MetaData) -> str:
    """Return the name of a schema, which differs from that of every other: until 1.0 it changes without a migration."""
    columns = (
        f"{table.name}.{column.name} {column.type} {column.nullable} {column.server_default is not None}"
        for table in schema.sorted_tables
        for column in table.columns
    )
    indexes = sorted(str(index.name) for table in schema.sorted_tables for index in table.indexes)
    return f"0001_{hashlib.sha256('|'.join([*columns, *indexes]).encode()).hexdigest()[:12]}"


REVISION = make_revision(metadata)
