"""Small tools that every other package may use."""
