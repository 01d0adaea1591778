"""Branches for “what if”, on which a player tries moves, and the standing orders made from them.

Imports tables and below.
"""
