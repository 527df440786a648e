"""Agents' own programs as their makers ship them: pinned, installed outside any unit, checked before each pilot."""
