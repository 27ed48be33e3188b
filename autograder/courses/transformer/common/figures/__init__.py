"""What the pictures of several lessons share: the map of the model, and what a small trained model showed."""
