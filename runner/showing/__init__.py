"""What happened in an attempt, for people: sealed evidence read once, and written for a terminal or as JSON."""
