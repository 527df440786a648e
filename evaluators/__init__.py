"""What is good: submission -> verdict."""
