"""Keep other packages from importing what is slow and never used."""

import sys


def skip_slow_imports() -> None:
    """Keep jsonschema, which nbformat and nbgrader import, from importing `rfc3987_syntax`.

    That module parses 39 grammars: 1.3 s of CPU time at every start. jsonschema does without it, and then does not
    check the format "iri", which no schema of notebooks has.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # An import of it raises ImportError.
