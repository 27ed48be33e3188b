"""What the pictures of several lessons share: diagrams, the map of the model, and what a small model showed."""
