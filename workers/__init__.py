"""The work that bells ring for: judging, letters, clocks, bots. A folder or file for each; imports the service."""
