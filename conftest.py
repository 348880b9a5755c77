"""What examples in docstrings are given: what docs/reference.rst says that they start from."""

import re
import textwrap
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(request, doctest_namespace, tmp_path_factory):
    page = (Path(__file__).parent / "docs" / "reference.rst").read_text(encoding="utf-8")
    (block,) = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page)
    exec(textwrap.dedent(block), doctest_namespace)
    doctest_namespace.pop("__builtins__", None)
    certificate = doctest_namespace["certificate"] = tmp_path_factory.mktemp("examples") / "optimum.npz"
    if any(isinstance(item, pytest.DoctestItem) for item in request.session.items):
        ct, problem = doctest_namespace["ct"], doctest_namespace["problem"]
        ct.exact_search(ct.s3vm(), problem, certificate=certificate)
