"""The past of a game: replays, histories of scores and chances, stories, and whole logs."""
