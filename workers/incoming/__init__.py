"""Mails that arrive: received, checked, parsed line by line, and played as moves."""
