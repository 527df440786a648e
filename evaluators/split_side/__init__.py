"""The programs of a split evaluation, one for each of its two units. They stand alone: nothing of ours is imported."""
