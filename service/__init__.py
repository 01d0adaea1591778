"""The shell around the engine: Flask, SQL, settings, command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from service.app import App


def create_app(app: App) -> Flask:
    """Return the Flask application with all its pages."""
    from service.web import wire

    return wire(app)
