"""The reference pages, written from the models themselves: docs/reference/ is kept in step by a check."""
