"""Prints commands to the terminal, markup, HTML, and text that runs backwards.

Held by: process
Right: full points
"""

print("\x1b[2J\x1b]0;owned\x07\x1b[31m[red]markup[/red] <script>alert(1)</script> \u202egnp.exe \x00 \ud800".encode("utf-8", "replace").decode())
