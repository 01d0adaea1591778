"""Checks of the DNS records that the server needs: its address, SPF, DKIM, DMARC and MX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from dns.exception import DNSException
from dns.nameserver import Do53Nameserver
from dns.resolver import NXDOMAIN, NoResolverConfiguration, Resolver

from service.commands.terminal import CheckResult, make_success, make_warning
from service.settings import Settings

TOPIC = "dns"
TIMEOUT_S = 3.0  # for the answer of one name server
RESOLV_CONF = Path("/etc/resolv.conf")
Kind = Literal["A", "AAAA", "MX", "TXT"]
NameServer = tuple[str, int]


class NotAnswered(Exception):
    """No name server could say whether there is a record."""


def list_name_servers(file: Path = RESOLV_CONF) -> list[NameServer]:
    """Return the name servers that this machine uses."""
    try:
        return [(str(address), 53) for address in Resolver(str(file)).nameservers]
    except NoResolverConfiguration:
        return []


def fetch_records(name: str, kind: Kind, servers: Sequence[NameServer]) -> list[str]:
    """Ask the servers, one after the other, for the records of a kind under a name; empty if there are none.

    Raise NotAnswered if no server gives a valid answer.
    """
    if not servers:
        raise NotAnswered("this machine has no name server; see /etc/resolv.conf")
    resolver = Resolver(configure=False)
    resolver.nameservers = [Do53Nameserver(host, port) for host, port in servers]
    resolver.timeout = TIMEOUT_S
    resolver.lifetime = TIMEOUT_S * len(servers)
    try:
        return [_format_record(one) for one in resolver.resolve(name, kind, raise_on_no_answer=False, search=False)]
    except NXDOMAIN:
        return []
    except DNSException as error:
        raise NotAnswered(str(error)) from None


def _format_record(record: Any) -> str:
    """Format the data of a record: its text, its mail server or its address."""
    if record.rdtype.name == "TXT":
        return b"".join(record.strings).decode("utf-8", "replace")
    if record.rdtype.name == "MX":
        return str(record.exchange.to_text(omit_final_dot=True))
    return str(record.address)


class Zone:
    """The records around the domain that letters come from."""

    def __init__(self, settings: Settings, servers: Sequence[NameServer]) -> None:
        self._settings, self._servers = settings, servers
        self._domain = settings.mail_host

    def check(self) -> Iterator[CheckResult]:
        """Check each record that the server needs; if no name server answers, report only that."""
        try:
            yield from (
                *self._check_address(),
                *self._check_spf(),
                *self._check_dkim(),
                *self._check_dmarc(),
                *self._check_answers(),
            )
        except NotAnswered as error:
            yield make_warning(
                TOPIC, f"no name server answers: {error}", "name a server that answers: depesche doctor --dns 9.9.9.9"
            )

    def _fetch(self, name: str, kind: Kind) -> list[str]:
        return fetch_records(name, kind, self._servers)

    def _fetch_texts(self, name: str, version: str) -> list[str]:
        """Return the TXT records that begin with this word, which ends at a blank or a semicolon."""
        records = list[str]()
        for text in self._fetch(name, "TXT"):
            words = text.replace(";", " ").split()
            if words and words[0] == version:
                records.append(text)
        return records

    def _check_address(self) -> Iterator[CheckResult]:
        """Check that the name in the links of letters has an address."""
        name = urlsplit(self._settings.address).hostname or ""
        is_address = ":" in name or not name.strip(".0123456789")
        if is_address or "." not in name:  # without a dot, only this machine or its network knows the name
            return
        addresses = [*self._fetch(name, "A"), *self._fetch(name, "AAAA")]
        if addresses:
            yield make_success(TOPIC, f"{name} is {', '.join(addresses)}")
        else:
            yield make_warning(
                TOPIC, f"{name}, where the links lead, has no address", f"add a record: {name}. A <this server>"
            )

    def _check_spf(self) -> Iterator[CheckResult]:
        """Check that a single record says which servers may send for the domain, and that not all may."""
        records = self._fetch_texts(self._domain, "v=spf1")
        domain = self._domain
        if not records:
            example = f'{domain}. TXT "v=spf1 mx -all", with include: or ip4: for the server that sends'
            yield make_warning(
                TOPIC, f"no SPF record says which servers may send for {domain}", f"add a record: {example}"
            )
        elif len(records) > 1:
            yield make_warning(
                TOPIC, f"{len(records)} SPF records at {domain}, so none of them counts", "make one record of them"
            )
        elif {"+all", "all", "?all"} & set(records[0].split()):
            yield make_warning(
                TOPIC, f"SPF lets every server send for {domain}: {records[0]}", "let it end with -all or ~all"
            )
        else:
            yield make_success(TOPIC, f"SPF of {domain}: {records[0]}")

    def _check_dkim(self) -> Iterator[CheckResult]:
        """Check that the key with which the relay signs is published."""
        selector = self._settings.dkim
        if not selector:
            mend = "set DEPESCHE_DKIM to the selector that the relay signs with, or try: depesche doctor --mail ADDRESS"
            yield CheckResult("look", TOPIC, "DKIM: this server does not know which key the relay signs with", mend)
            return
        name = f"{selector}._domainkey.{self._domain}"
        tags = [dict(_parse_tags(text)) for text in self._fetch(name, "TXT")]
        if any(one.get("p") for one in tags):
            yield make_success(TOPIC, f"DKIM: {name} has a key")
        elif any("p" in one for one in tags):
            yield make_warning(
                TOPIC, f"DKIM: the key at {name} is empty, which revokes it", "publish the relay's current key there"
            )
        else:
            yield make_warning(
                TOPIC, f"DKIM: there is no key at {name}", f"add what the relay made: {name}. TXT “v=DKIM1; p=…”"
            )

    def _check_dmarc(self) -> Iterator[CheckResult]:
        """Check the record of the domain, or of the nearest parent domain that has one."""
        labels = self._domain.split(".")
        # The domain and its parents, without the top-level domain.
        domains = [".".join(labels[number:]) for number in range(max(1, len(labels) - 1))]
        for domain in domains:
            if records := self._fetch_texts(f"_dmarc.{domain}", "v=DMARC1"):
                policy = dict(_parse_tags(records[0])).get("p", "")
                if len(records) == 1 and policy in ("none", "quarantine", "reject"):
                    yield make_success(TOPIC, f"DMARC of {domain}: {records[0]}")
                else:
                    mend = f'keep one, such as _dmarc.{domain}. TXT "v=DMARC1; p=none"'
                    yield make_warning(TOPIC, f"DMARC of {domain} sets no policy: {'; '.join(records)}", mend)
                return
        mend = f'add a record: _dmarc.{self._domain}. TXT "v=DMARC1; p=none"'
        yield make_warning(TOPIC, f"no DMARC record for {self._domain}: large providers ask for one", mend)

    def _check_answers(self) -> Iterator[CheckResult]:
        """Check that answers by mail, and reports of undelivered letters, reach the domain."""
        if not (self._settings.inbound or self._settings.imap):
            return
        if hosts := self._fetch(self._domain, "MX"):
            yield make_success(TOPIC, f"mail to {self._domain} goes to {', '.join(hosts)}")
        elif self._fetch(self._domain, "A") or self._fetch(self._domain, "AAAA"):
            what = f"mail to {self._domain} goes to the machine of that name, because it has no MX record"
            yield make_success(TOPIC, what)
        else:
            mend = f"add a record: {self._domain}. MX 10 <your mail server>"
            yield make_warning(TOPIC, f"mail to {self._domain} goes nowhere: no MX record, and no address", mend)


def _parse_tags(text: str) -> Iterator[tuple[str, str]]:
    """Parse `v=DKIM1; p=...` into pairs."""
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if equals:
            yield name.strip(), value.strip()
