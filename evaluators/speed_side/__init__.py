"""What runs inside the units of a measurement of speed, beside split_side: it stands alone."""
