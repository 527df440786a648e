"""Proving a nomination before money is spent on it (front door: runner.validating.validation)."""
