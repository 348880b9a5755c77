"""Slides of the eight lessons: pages that are gone through by keys, touch or mouse, made of the lessons' own pages.

A lesson's formulas, pictures with their captions, what the class should see, and its questions, whose answers come with
the next step, are slides in this order.
"""

import html
import re
from pathlib import Path

COURSE = Path(__file__).parent / "course"

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
{mathjax}
<link rel="stylesheet" href="../_static/slides.css"><script defer src="../_static/slides.js"></script></head>
<body>{slides}<footer><a href="../course/lesson{number}.html">the lesson</a> <output></output></footer></body></html>
"""


def inline(text):
    """The HTML of a line of reStructuredText as the lessons have it."""
    text = html.escape(" ".join(text.split()), quote=False)
    text = re.sub(r":math:`([^`]*)`", r"\\(\1\\)", text)
    text = re.sub(r":doc:`/([^`>]*)`", lambda m: f'<a href="../{m[1]}.html">{m[1].rsplit("/", 1)[-1]}</a>', text)
    text = re.sub(r":(?:ref|func|class):`(?:[^`&]*&lt;)?~?([^`&]*)(?:&gt;)?`", r"\1", text)
    text = re.sub(r"``([^`]*)``", r"<code>\1</code>", text)
    return re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", text)


def sections(text):
    """The title of a lesson, and the text of its sections by their headings; "" is what comes before the first."""
    parts = re.split(r"(?m)^(.+)\n(?:=+|-+)\n", text)
    return parts[1].strip(), {"": parts[2], **dict(zip(parts[3::2], parts[4::2], strict=True))}


def blocks(text):
    """Paragraphs and directives of a section: what is indented belongs to the line above."""
    return [block for block in re.split(r"\n\n+(?=\S)", text.strip()) if block]


def items(text):
    """The points of a list."""
    return [one.strip() for one in re.split(r"(?m)^- ", text.strip())[1:]]


def bullets(found):
    """A list as HTML."""
    return "<ul>" + "".join(f"<li>{inline(one)}</li>" for one in found) + "</ul>"


def question(text):
    """A question, and its answer, which is in the last brackets and is shown by the next step."""
    asked, _, answer = text.strip().removesuffix(")").partition(" (")
    return f"<p class=question>{inline(asked)}</p><p class='answer later'>{inline(answer)}</p>"


def picture(block):
    """A picture with its caption."""
    name = re.search(r"images/(\S+)", block)[1]
    caption = block.split("\n\n", 1)[1] if "\n\n" in block else ""
    return f"<img src='../_images/{name}' alt='{html.escape(inline(caption), quote=True)}'><p>{inline(caption)}</p>"


def slides_of(text):
    """The slides of a lesson's page, as HTML."""
    title, parts = sections(text)
    aims = items(parts[""].split("\n\n", 2)[1])
    found = [f"<h1>{inline(title)}</h1><p>After this lesson you can</p>{bullets(aims)}"]
    shown, formulas = blocks(parts["What is shown"]), []
    for block in shown:
        if block.startswith(".. math::"):
            formulas.append(r"\[" + html.escape(block.partition("\n\n")[2].strip()) + r"\]")
        elif block.startswith((".. figure::", ".. image::")):
            found.append(picture(block))
        else:
            found.append("".join(formulas) + f"<p>{inline(block)}</p>")
            formulas = []
    found.append(f"<h2>What you should see</h2>{bullets(items(parts['What the class should see']))}")
    return title, [*found, *map(question, items(parts["To ask"]))]


def write_slides(app, exception):
    """Write the decks beside the built pages; formulas are drawn as on these."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "slides"
    folder.mkdir(exist_ok=True)
    lesson = (Path(app.outdir) / "course" / "lesson1.html").read_text(encoding="utf-8")
    scripts = re.findall(r"(?s)<script[^>]*>.*?</script>", lesson)
    mathjax = "\n".join(one for one in scripts if "mathjax" in one.lower())
    for path in sorted(COURSE.glob("lesson?.rst")):
        title, slides = slides_of(path.read_text(encoding="utf-8"))
        whole = "".join(f"<section>{one}</section>" for one in slides)
        page = PAGE.format(title=html.escape(title), mathjax=mathjax, slides=whole, number=path.stem[-1])
        (folder / f"{path.stem}.html").write_text(page, encoding="utf-8")
