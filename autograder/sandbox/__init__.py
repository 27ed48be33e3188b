"""Run student code in processes of their own, in a sandbox, reached only through data.

`child/` is the untrusted half: its files run in the student's process, and Headway never imports them. The rest is the
trusted half: it builds the sandbox, proves which level holds on this machine, and enforces time limits. The same kind
of process parses submitted source code, which the grader itself never does (`source_reader.py`).

`in_process.py` stands apart: it runs student code without any process, in a browser, and isolates nothing.
"""
