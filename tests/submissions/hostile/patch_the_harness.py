"""Replaces the harness in its own process, so that everything it does is reported as right.

Held by: process
Right: 0 points
"""

import sys

serve, frames = sys.modules["_headway_serve"], sys.modules["_headway_frames"]
pack = frames.pack
serve.call = serve.OPERATIONS["call"] = lambda submission, request: {"status": "passed", "value": True, "passed": True}
frames.pack = lambda value: pack({**value, "status": "returned", "value": True, "earned": 100, "points": 100})
