"""Every assignment becomes a page with its lesson and with the stubs of its functions, and with no solution."""

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.site.build import pages


@pytest.fixture(scope="module")
def built():
    return pages(TRANSFORMER, "none")


@pytest.mark.parametrize("module", list(TRANSFORMER.modules))
def test_page_has_a_section_and_a_cell_for_each_function(built, module):
    page = built[f"{module}.html"].decode()
    for function in TRANSFORMER.modules[module].functions:
        name = function.qualified
        assert page.count(f'<section id="{name}" class="function" data-function="{name}" data-points="') == 1
        assert page.count(f'<div class="cell" data-function="{name}">') == 1
        assert f'<li class="function" data-function="{name}"><a href="#{name}">' in page
