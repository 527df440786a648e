"""Signatures, trees and logs: who made a release, what belongs to it, and in which order things were said."""
