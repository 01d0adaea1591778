"""French as it is spoken: before the name of Anna “de” becomes “d’”, and a colon stands apart from its word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from gettext import NullTranslations
from typing import Any

import jinja2
from jinja2.runtime import Context
from markupsafe import Markup

from service.text.places import unmarked

FRENCH = "fr"
COLON = {FRENCH: "\u00a0:"}  # in every other language a bare one
BEFORE_A_WORD = re.compile(r"\b([Dd]|[Qq]u)e (?=%\((\w+)\)s)")
VOWEL = re.compile(r"[aeiouàâæéèêëîïôöœùûü][^\W\d]", re.IGNORECASE)  # a field such as A1 is spelt out, not spoken


def elided(said: str, words: Mapping[str, Any]) -> str:
    """A French sentence that is ready for these words: “d’%(who)s” where who begins with a vowel."""

    def joined(found: re.Match[str]) -> str:
        return f"{found[1]}’" if VOWEL.match(unmarked(str(words.get(found[2], "")))) else found[0]

    return BEFORE_A_WORD.sub(joined, said)


def install(environment: jinja2.Environment, words: NullTranslations) -> None:
    """Let the templates of this environment speak French, in place of Jinja's own way to fill in words."""

    @jinja2.pass_context
    def gettext(context: Context, said: str, /, **given: Any) -> str:
        return _filled(context, words.gettext(said), given)

    @jinja2.pass_context
    def ngettext(context: Context, one: str, many: str, count: int, /, **given: Any) -> str:
        return _filled(context, words.ngettext(one, many, count), {"num": count, **given})

    environment.globals |= {"gettext": gettext, "ngettext": ngettext}


def _filled(context: Context, said: str, given: Mapping[str, Any]) -> str:
    ready = elided(said, given)
    return (Markup(ready) if context.eval_ctx.autoescape else ready) % given  # noqa: S704 - our own catalogues
