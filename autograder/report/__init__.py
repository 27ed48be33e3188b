"""Views of the result document. They read the document and nothing else."""
