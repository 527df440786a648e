"""Derived documents: aggregates and tables."""
