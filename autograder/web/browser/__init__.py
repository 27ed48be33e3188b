"""Headway inside a browser: what the page of the static site calls in Pyodide."""
