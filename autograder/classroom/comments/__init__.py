"""Record comments, points given by hand and changes of grades."""
