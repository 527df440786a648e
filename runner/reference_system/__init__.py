"""What the reference clean-room system has published: read, and held against itself (front door: verify.py)."""
