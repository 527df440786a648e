"""A plain tool loop (`main`): a model, a workspace, a few tools; and one question without any (`once`).

Standard library and relative imports only.
"""
