"""Write the grades of a class in the formats of other systems."""
