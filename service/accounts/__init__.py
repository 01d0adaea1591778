"""What belongs to a person: signing in, proving an address, preferences, my tables, bounces, leaving.

Imports plans and below.
"""
