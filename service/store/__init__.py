"""The book of record: what is stored, and the few ways to change it."""

from service.store.connect import Store

__all__ = ["Store"]
