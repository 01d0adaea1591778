"""Requests to other servers: for rounds of the public beacon, and to addresses that players choose."""
