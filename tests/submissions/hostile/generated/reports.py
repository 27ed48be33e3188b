"""Texts that would be commands or markup where reports show them: exceptions, warnings, output, names, traces."""

MARKUP = "'<script>fuzz()</script><img src=x onerror=fuzz()>'"
TEXTS = {
    "html": ("HTML", MARKUP),
    "console_markup": ("the markup of the terminal library", "'[bold red]passed[/] [link=file:///etc/passwd]x[/link] :bomb: [/nothing]'"),
    "markdown": ("Markdown that ends its code block", "'\\n' + '`' * 9 + '\\n# passed\\n[x](javascript:fuzz()) | a | b |\\n' + '~' * 9"),
    "terminal_commands": ("commands to the terminal", "'\\x1b]8;;http://x\\x07x\\x1b]8;;\\x07\\x9b2J\\x1b[2J\\x1bP\\x90\\r\\b\\x7f\\x00'"),
    "backwards": ("text that runs backwards and covers other text", "'\\u202e\\u2066' * 99 + 'a' + '\\u0301' * 999 + '\\u200b\\u2028\\u2029\\ufeff'"),
    "table_formulas": ("formulas for spreadsheets", "'=HYPERLINK(\"http://x\")\\n@SUM(1)\\n+1\\n-1\\t=1'"),
    "json": ("the end of a JSON text", "'\"}], \"passed\": true, \"points\": {\"earned\": 99}'"),
    "no_unicode": ("text that no encoding can write", "'\\ud800\\udfff' + chr(0x10ffff) + chr(0xfdd0)"),
    "long_line": ("a line of a million characters", "'x' * 1_000_000"),
    "many_lines": ("a hundred thousand lines", "'x\\n' * 100_000"),
    "placeholders": ("placeholders of format strings and templates", "'{0.__class__} %s %n {{ 7*7 }} {% raw %} ${x} $(x) \\\\x'"),
}  # fmt: skip
EVERYWHERE = '''
import os
import sys
import warnings

calls = 0
TEXT = {text}


def log_softmax(x, axis=-1):
    global calls
    calls += 1
    print(TEXT)
    print(TEXT, file=sys.stderr)
    warnings.warn(TEXT, type("Warning" + TEXT[:50].replace("\\0", ""), (UserWarning,), {}), stacklevel=1)
    if calls % 4 == 0:
        return {TEXT: TEXT}
    if calls % 4 == 1:
        return type(TEXT[:50].replace("\\0", ""), (), {})()
    code = "def f(): raise type(T[:50].replace(chr(0), ''), (Exception,), {})(T)"
    space = {"T": TEXT}
    exec(compile(code, os.path.join(os.path.dirname(__file__), TEXT[:200].replace("\\0", "").replace("/", "")), "exec"), space)
    space["f"]()
'''
ATTACKS = [
    {"name": f"report_{name}", "tries": f"Prints, warns, raises and returns {what}.", "code": EVERYWHERE.replace("{text}", text)}
    for name, (what, text) in TEXTS.items()
]
