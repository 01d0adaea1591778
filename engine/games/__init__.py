"""One folder per game; a folder is all a game needs to be found."""
