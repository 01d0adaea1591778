"""Trouble from outside in one sentence: a database that is down, a folder that cannot be written, a package."""

from __future__ import annotations

PACKAGES = {"psycopg": "prod"}


def sentence(error: Exception) -> str | None:
    """What a host can mend, said without its passwords; None for a fault of ours, which needs its traceback."""
    from alembic.util import CommandError
    from redis import RedisError
    from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

    match error:
        case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] in PACKAGES:
            extra = PACKAGES[name.partition(".")[0]]
            return f"This needs the package {name}; install Depesche with its extra: pip install depesche[{extra}]"
        case ArgumentError():
            return "DEPESCHE_DATABASE cannot be read; it looks like postgresql+psycopg://depesche@db/depesche"
        case DBAPIError():
            return f"The database does not do what it should: {_first(error.orig)}; see DEPESCHE_DATABASE."
        case SQLAlchemyError():
            return f"The database does not do what it should: {_first(error)}; see DEPESCHE_DATABASE."
        case CommandError():
            return f"The database was made by another version of Depesche ({_first(error)}); install that one."
        case RedisError():
            return f"Redis does not do what it should: {_first(error)}; see DEPESCHE_REDIS."
        case OSError(filename=str(name), strerror=str(why)):
            return f"{name}: {why}."
        case OSError(strerror=str(why)):
            return f"The machine refused: {why}."
    return None


def _first(error: object) -> str:
    """The first line of what went wrong; what follows it repeats the statement."""
    return str(error).strip().partition("\n")[0].rstrip(".;")
