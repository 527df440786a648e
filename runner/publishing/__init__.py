"""Publication: what of a release's evidence may be seen by anybody, laid out and written once."""
