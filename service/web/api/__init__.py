"""The JSON interface, its OpenAPI document and the page that explains it."""
