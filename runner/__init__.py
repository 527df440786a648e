"""Cleanroom knows the path here: release -> attempts -> sealed artifacts -> reports."""

__version__ = "0.1.0"
