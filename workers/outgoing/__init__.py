"""Letters: written from the state of a table, drawn, and sent at least once.

From the row of a due letter to the relay: `post` claims letters, `table_letters`, `personal_letters` and `digest` write
them, `emails` builds and sends the e-mails. To the channels beside mail: `channel_deliveries` claims notices and sends
them, `notices` writes them. This package imports `workers.incoming` for the results of the mails that letters answer.
"""
