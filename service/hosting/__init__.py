"""The host's page: an overview of the server, and remedies. Imports tables and below."""
