"""Letters that leave: written, drawn, sent at least once. Imports incoming, for the reports a letter tells."""
