"""Programs of ours that look at submitted files as data, inside a unit of the trusted side. They stand alone."""
