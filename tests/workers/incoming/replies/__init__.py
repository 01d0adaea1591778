"""Replies as real mail programs write them, and what has to come of each."""
