"""Channels: further ways to a player beside mail, for the same notices.

A row of `letters` is a notice that is owed to a player. Mail is its first way out (`workers/outgoing/post.py`). A row
of `channels` is a further way, which the player has added. A row of `deliveries` is a letter on its way by a channel.
The reader, the language, quiet hours and whether the notice is still true are decided for the letter
(`workers/outgoing/owed.py`), not by a channel.

To add a kind of channel, write its sender and enter it in SENDERS of `workers/outgoing/channel_deliveries.py`, and let
a page call `channels.add`. `workers/outgoing/channel_deliveries.py` does the rest: leases, retries, and the letter to
the owner of a channel that keeps failing.
"""
