"""The model gateway: the one thing between a clean room and a provider."""
