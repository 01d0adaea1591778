"""Everything that happens at a table, from opening it to the gallery; one judge carries out every command.

Imports people and below.
"""
