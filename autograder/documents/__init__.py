"""Stored documents: their types, how they are read, and the results of checks that they are made from."""
