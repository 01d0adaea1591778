"""Mails that arrive: told apart, read line by line, and played as moves."""
