"""Signed cookies that clocks which disagree do not make worthless.

A clock can be set back, and two machines never agree to the second. Flask then takes a cookie signed a moment later
than now for a forgery: the visitor is signed out, and every form that lies open is refused. The signature is what says
that a cookie is ours; its time only says when it has grown old.
"""

from typing import Any

from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer


class LenientSigner(TimestampSigner):
    """What seems to be signed in the future is as good as signed now."""

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]  # of a bool
        except SignatureExpired as expired:
            if expired.date_signed and expired.date_signed > self.timestamp_to_datetime(self.get_timestamp()):
                return super().unsign(signed_value, None, return_timestamp)  # type: ignore[call-overload]
            raise


class LenientCookies(SecureCookieSessionInterface):
    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer:
            serializer.signer = LenientSigner
        return serializer
