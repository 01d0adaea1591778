"""The workers, one file or folder for each: referee, clock, bots, beacon rounds, incoming mail, outgoing letters."""
