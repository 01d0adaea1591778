"""The shell around the engine: Flask, SQL, settings, command line."""
