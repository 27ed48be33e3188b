"""The check report in a notebook: what is said about a function as a whole."""

from support.result_documents import check, document

from autograder.report.check_report import NotebookReport

ISOLATED = "correct in isolation; blocked only by softmax.softmax"


def shown(*checks):
    return str(NotebookReport(document(*checks), {}, {}))


def blocked(message):
    return check(status="blocked", blocked_by=["softmax.softmax"], message=message)


def test_correct_in_isolation_is_said_if_all_checks_say_it():
    assert ISOLATED in shown(blocked(ISOLATED), blocked(ISOLATED))


def test_correct_in_isolation_is_not_said_of_one_check_among_others():
    text = shown(blocked("blocked by softmax.softmax. out differs"), blocked(ISOLATED))
    assert "in isolation" not in text and "2 checks blocked" in text


def test_function_with_one_started_check_is_not_called_unwritten():
    text = shown(check(status="not_started"), blocked(ISOLATED))
    assert "not written yet" not in text
