"""Views of result documents. They read the document and nothing else."""
