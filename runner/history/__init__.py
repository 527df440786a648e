"""Nominations from git history: somebody's repository read as data, and fixtures made of its commits."""
