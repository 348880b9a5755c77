"""The documents in paper/: citations, figures, names and placeholders fit together; only a slow test builds them."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[1] / "paper"
DOCUMENTS = {"paper": PAPER / "paper.md", "report": PAPER / "report" / "report.md"}

#: What the journal asks for: keys of the front matter, sections, and between how many words.
KEYS = ("title", "tags", "authors", "affiliations", "date", "bibliography")
SECTIONS = (
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
)
WORDS = (750, 1750)

#: A DOI as registration agencies write it.
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+")


def load(name):
    """A module of the folder, under a name of its own, as others have modules called build and tables."""
    spec = importlib.util.spec_from_file_location(f"paper_{name}", PAPER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build():
    return load("build")


@pytest.fixture(scope="module")
def kept():
    return load("tables")


@pytest.fixture(scope="module")
def numbers(kept):
    return kept.numbers()


@pytest.fixture(scope="module")
def tables(kept):
    return kept.tables()


def text_of(name):
    return DOCUMENTS[name].read_text(encoding="utf-8")


def entries():
    """Entries of the bibliography by their keys."""
    text = (PAPER / "paper.bib").read_text(encoding="utf-8")
    parts = re.split(r"^@\w+\{", text, flags=re.MULTILINE)[1:]
    return {part.partition(",")[0].strip(): part for part in parts}


def cited(text):
    """Keys that a text of Markdown cites, those in code left out."""
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    return set(re.findall(r"(?<![\w.\\])@([A-Za-z]\w*)", text))


def body_of(text):
    """The text after the front matter, without comments, code and the heading of the references."""
    body = text.split("\n---\n", 1)[1].split("# References")[0]
    return re.sub(r"<!--.*?-->|```.*?```", "", body, flags=re.DOTALL)


def test_citations_and_bibliography_fit(tables):
    keys = set().union(*(cited(text_of(name)) for name in DOCUMENTS), *(cited(text) for text in tables.values()))
    assert keys == set(entries())


def test_digital_object_identifiers_are_well_formed():
    found = {key: re.search(r"\bdoi\s*=\s*\{(.*)\}", entry) for key, entry in entries().items()}
    identifiers = [match[1] for match in found.values() if match]
    assert len(identifiers) == len(set(identifiers)) > 20
    assert [one for one in identifiers if not DOI.fullmatch(one)] == []


def test_entries_say_who_what_and_when():
    for key, entry in entries().items():
        assert all(re.search(rf"^\s*{field}\s*=", entry, re.MULTILINE) for field in ("author", "title", "year")), key


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_name_has_its_number(name, build, numbers, tables):
    text = build.resolved(text_of(name), numbers, tables)
    assert "{{" not in text
    assert build.outdated(text, numbers) == []


def test_a_name_that_there_is_not_is_an_error(build, numbers, tables):
    with pytest.raises(build.Unknown, match="unheard"):
        build.resolved("{{exact.unheard}}", numbers, tables)
    with pytest.raises(build.Unknown, match="unheard"):
        build.outdated("3<!--exact.unheard-->", numbers)


def test_a_number_that_is_out_of_date_is_found_and_corrected(build, numbers):
    name = "exact.scip_40"
    old = f"(99999<!--{name}--> s)"
    assert build.outdated(old, numbers) == [(name, "99999", numbers[name])]
    assert build.updated(old, numbers) == f"({numbers[name]}<!--{name}--> s)"


def test_tables_are_all_used_and_have_a_row_for_everything(tables):
    used = set(re.findall(r"\{\{table\.(\w+)\}\}", text_of("report")))
    assert used == set(tables)
    for name, text in tables.items():
        widths = {line.count("|") for line in text.splitlines() if line.startswith("|") and "$" not in line}
        assert len(widths) == 1, name


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_figure_is_drawn_by_the_script(name, build):
    drawn = re.findall(r"^def (\w+)\(\) -> Figure:", (PAPER / "figures.py").read_text(), re.MULTILINE)
    pictures = [Path(found["path"]) for found in build.PICTURE.finditer(text_of(name))]
    assert pictures
    for path in pictures:
        assert path.suffix == ".pdf"
        assert path.stem in drawn
        assert (DOCUMENTS[name].parent / path).resolve().parent == PAPER / "images"


def test_front_matter_and_sections_of_the_journal():
    front, _ = text_of("paper").removeprefix("---\n").split("\n---\n", 1)
    assert tuple(re.findall(r"^(\w+):", front, re.MULTILINE)) == KEYS
    assert tuple(re.findall(r"^# (.*)$", text_of("paper"), re.MULTILINE)) == SECTIONS
    assert WORDS[0] <= len(body_of(text_of("paper")).split()) <= WORDS[1]


def test_what_only_people_can_say_is_a_placeholder():
    front, body = text_of("paper").removeprefix("---\n").split("\n---\n", 1)
    for key in ("name", "orcid", "date"):
        values = re.findall(rf"^[ -]*{key}: (.*)$", front, re.MULTILINE)
        assert values, key
        assert all(value.strip("\"'").startswith("PLACEHOLDER: ") for value in values), key
    for section in ("AI usage disclosure", "Acknowledgements"):
        assert body.split(f"# {section}\n")[1].strip().startswith("PLACEHOLDER: "), section
    front = text_of("report").split("\n---\n")[0]
    assert len(re.findall(r'"PLACEHOLDER: ', front)) == 2


@pytest.mark.parametrize("name", DOCUMENTS)
def test_other_words_for_placeholders_are_not_used(name):
    assert re.findall(r"TODO|FIXME|XXX|TBD|lorem|0000-0000", text_of(name), re.IGNORECASE) == []


@pytest.mark.slow
def test_documents_are_built(build, monkeypatch):
    pytest.importorskip("pypandoc")
    pytest.importorskip("typst")
    monkeypatch.setattr(sys, "argv", ["build.py"])
    monkeypatch.setattr(sys, "path", [str(PAPER), *sys.path])
    build.main()
    for name in DOCUMENTS:
        assert (PAPER / "_build" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
