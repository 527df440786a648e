"""A plain tool loop: a model, a workspace, a few tools. Standard library and relative imports only."""
