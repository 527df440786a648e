"""Giving disk back: what can be made again, and, where somebody names it, evidence that is superseded and published."""
