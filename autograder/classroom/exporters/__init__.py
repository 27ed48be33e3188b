"""Write a class's grades in the formats of gradebooks."""
