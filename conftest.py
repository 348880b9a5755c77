"""What examples in docstrings are given: what docs/reference.rst says that they start from."""

import re
import textwrap
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(doctest_namespace):
    page = (Path(__file__).parent / "docs" / "reference.rst").read_text(encoding="utf-8")
    (block,) = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page)
    exec(textwrap.dedent(block), doctest_namespace)
    doctest_namespace.pop("__builtins__", None)
