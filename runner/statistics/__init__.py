"""What can be said of rates, costs and differences: plain functions, no library beyond Python's own."""
