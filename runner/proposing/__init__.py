"""Nominations proposed from a fix in a repository's history; their author finishes them."""
