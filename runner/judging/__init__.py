"""Judging sealed submissions: what judges are shown, what they say, and what follows from it."""
