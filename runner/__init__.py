"""Cleanroom knows the path here: release -> attempts -> sealed artifacts -> reports."""
