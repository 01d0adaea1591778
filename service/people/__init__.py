"""People: addresses, rate limits for letters, letter settings, vacations. Imports store and below."""
