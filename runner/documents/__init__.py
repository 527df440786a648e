"""The shapes of every document that crosses a boundary; one module a family of documents."""
