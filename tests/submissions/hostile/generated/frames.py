"""Answers that no honest process sends: markers, shapes, keys, ids. Each is written to the channel by hand."""

SEND = '''
import json
import os
import struct
import sys


def log_softmax(x, axis=-1):
    above = sys._getframe()
    while "request" not in above.f_locals:
        above = above.f_back
    number, body, encoding = above.f_locals["request"]["id"], b"", "utf-8"
    value = 0
    {answer}
    header = {header}
    text = json.dumps(header).encode(encoding)
    data = struct.pack("<4sIQ", b"HWF1", len(text), len(body)) + text + body
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
'''
HEADER = '{"d": [["id", number], ["status", "returned"], ["modified", {"l": []}], ["value", value]]}'
CONFIG = '{"c": ["@marks@/config", "made", {"d": []}]}'
ANSWERS = {
    "config_with_a_path": ("Answers with a configuration whose module is a file that it chose.", f"value = {CONFIG}"),
    "config_in_a_tuple": ("Hides such a configuration in a tuple of a dictionary.", f'value = {{"d": [["x", {{"t": [1, {CONFIG}]}}]]}}'),
    "config_as_a_key": ("Uses such a configuration as a key.", f'value = {{"d": [[{CONFIG}, 0]]}}'),
    "config_instead_of_a_status": ("Puts such a configuration where the status belongs.", f'value = {{"l": [{CONFIG}] * 9}}'),
    "endless_generator": ("Answers with the mark of an endless generator.", 'value = {"g": [{"l": []}, True]}'),
    "generator_as_a_key": ("Uses the mark of a generator as a key and in place of an index.", 'value = {"d": [[{"g": [{"l": [1]}, False]}, {"g": [{"g": [1, True]}, 0]}]]}'),
    "random_generator": ("Answers with the mark of a random generator of a negative seed.", 'value = {"r": -1}'),
    "handle_never_issued": ("Answers with handles that the grader never gave out.", 'value = {"t": [{"h": 1}, {"h": -1}]}'),
    "array_of_64_axes": ("Returns an array of 64 axes.", 'value, body = {"a": ["<f8", [1] * 64]}, bytes(8)'),
    "array_of_65_axes": ("Returns an array of more axes than NumPy has.", 'value, body = {"a": ["<f8", [1] * 65]}, bytes(8)'),
    "empty_array_of_huge_axes": ("Returns an array of no elements whose axes overflow.", 'value = {"a": ["<f8", [0] + [2**39] * 9]}'),
    "axes_of_wrong_types": ("Gives negative, boolean and fractional lengths of axes.", 'value = {"l": [{"a": ["<f8", [n]]} for n in (-1, True, 0.0, None, "4")]}'),
    "dtype_of_objects": ("Returns an array of pointers that it chose.", 'value, body = {"a": ["|O", [2]]}, bytes(16)'),
    "dtype_with_fields": ("Returns arrays of dtypes with fields, dates and other byte orders.", 'value = {"l": [{"a": [code, [0]]} for code in ("V8", "<M8[s]", ">f8", "i4,O", "<f16")]}'),
    "nan_as_a_number": ("Sends numbers that JSON does not have.", 'value = {"t": [float("nan"), float("inf"), -float("inf")]}'),
    "two_ids": ("Gives two ids, of which one is right.", 'value = {"d": [["id", number], ["id", 0]]}'),
    "longer_body": ("Sends more bytes than its arrays have.", 'value, body = {"a": ["<f8", [1]]}, bytes(1 << 20)'),
    "shorter_body": ("Sends fewer bytes than its arrays have.", 'value, body = {"a": ["<f8", [1 << 30]]}, bytes(8)'),
    "half_a_million_lists": ("Returns half a million empty lists.", 'value = {"l": [{"l": []}] * 400_000}'),
    "wide_and_deep": ("Returns lists that are as deep as allowed and very wide at the bottom.", 'value = {"l": [0.5] * 700_000}\n    for _ in range(13): value = {"t": [value]}'),
    "nan_keys": ("Returns a dictionary with a hundred thousand keys that are not equal to themselves.", 'value = {"d": [[float("nan"), 0]] * 100_000}'),
    "shifted_keys": ("Returns a dictionary of numbers whose lower bits are equal.", 'value = {"d": [[k << 40, 0] for k in range(100_000)]}'),
    "floating_keys": ("Returns a dictionary of floats, many of which have equal hashes.", 'value = {"d": [[float(m) * 2.0 ** (61 * k), 0] for m in range(1, 8000, 2) for k in range(16)]}'),
    "broken_text": ("Returns texts that no encoding can write.", 'value = {"l": ["\\ud800" * 1000, "\\udcff", "\\x00"]}'),
    "other_encoding": ("Writes the header in UTF-16, which the parser of JSON would detect.", 'encoding = "utf-16"'),
    "byte_order_mark": ("Begins the header with a byte order mark.", 'encoding = "utf-8-sig"'),
    "text_of_four_megabytes": ("Returns a text as long as a header may be.", 'value = "\\u202e" * 600_000'),
}  # fmt: skip
HEADERS = {
    "budgets_of_its_own": (
        "Says in its answer that it has used no time, and that the grader owes it some.",
        '{"d": [["id", number], ["status", "returned"], ["value", value], ["used", {"d": [["cpu_seconds", -1e308]]}], '
        '["cpu_seconds", -5], ["seconds", float("nan")], ["received", -(1 << 60)], ["handles", {"d": [[0, 1]]}], ["line", -1]]}',
    ),
    "boolean_id": ("Answers with True as the id.", HEADER.replace("number", "True")),
    "floating_id": ("Answers with the right id as a float.", HEADER.replace("number", "float(number)")),
    "id_as_text": ("Answers with the right id as text.", HEADER.replace("number", "str(number)")),
    "no_id": ("Answers without an id.", '{"d": [["status", "returned"], ["value", 0]]}'),
    "list_as_an_answer": ("Answers with a list of pairs.", '{"l": [["id", number]]}'),
    "several_tags": ("Gives an entry of the header two meanings.", '{"d": [], "l": []}'),
    "status_of_a_check": ("Says that the check has passed, with points.", '{"d": [["id", number], ["status", "passed"], ["earned", 9.0], ["value", 0]]}'),
    "verdict_of_the_grader": ("Answers that the submission has no time left and cannot be graded.", '{"d": [["id", number], ["status", "WorkerUnavailable"], ["message", "internal error"]]}'),
}  # fmt: skip
ATTACKS = [
    {"name": name, "tries": tries, "code": SEND.replace("{answer}", answer).replace("{header}", HEADER)}
    for name, (tries, answer) in ANSWERS.items()
] + [
    {"name": name, "tries": tries, "code": SEND.replace("{answer}", "pass").replace("{header}", header)}
    for name, (tries, header) in HEADERS.items()
]
