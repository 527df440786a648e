"""Pilots among each other and beside their terminals: the line of those that want the clean room, status, stopping."""
