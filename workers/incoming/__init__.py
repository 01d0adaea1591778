"""Mails that arrive: told try_table, read line by line, and played as moves."""
