"""The database: what is stored, and the few ways to change it."""

from service.store.connection import Store

__all__ = ["Store"]
