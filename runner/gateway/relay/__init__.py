"""The program inside the gateway's unit.

It stands alone: the standard library, httpx and h11, siblings by relative import, nothing else of this house.
"""
