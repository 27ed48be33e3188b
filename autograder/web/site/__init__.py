"""The course as a website: `headway site` writes it, generated from `solutions/*.py` and `docs/`."""
