"""One module a runtime: how it is started, and what its stream says."""
