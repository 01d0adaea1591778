"""What if: branches on which a player tries a game out, and the standing orders made from them.

Imports tables and below.
"""
