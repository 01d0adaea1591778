"""Texts for readers: languages, sentences, drawings of boards, rule books. Imports no other folder of the service."""
