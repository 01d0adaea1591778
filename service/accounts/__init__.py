"""The account of a person: signing in, proving an address, preferences, my tables, bounces, deletion.

Imports tables and below.
"""
