"""Verifying evidence from the files alone (front door: runner.verify)."""
