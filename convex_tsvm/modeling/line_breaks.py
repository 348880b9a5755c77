"""Long formulas broken into lines, where a sum or an equation may be."""

import itertools
import re
from collections.abc import Callable

#: A line of text that is longer is broken before a sign.
LINE_WIDTH = 100


def broken(line: str, width: int = LINE_WIDTH) -> list[str]:
    """A line of text in parts of at most ``width`` characters, broken before signs and after commas."""
    return _broken(line, width, len, "    ")


def broken_latex(line: str, width: int = 90) -> list[str]:
    """The same of LaTeX, whose lines are not broken within braces and environments."""
    return _broken(line, width, rendered_length, "")


def _broken(line: str, width: int, length: Callable[[str], int], indent: str) -> list[str]:
    lines = [line]
    if length(line) <= width:
        return lines
    breaks = re.finditer(r" (?=[+-] )|(?<=,) |(?<=\\quad) ", line)
    places = [(_depth(line[: found.start()]), found.start()) for found in breaks]
    # A brace or an environment of LaTeX is deeper than any bracket.
    for deepest in sorted({depth for depth, _ in places if depth < FORBIDDEN}):
        cuts = [place for depth, place in places if depth <= deepest]
        parts = [line[first:last].strip() for first, last in itertools.pairwise([0, *cuts, len(line)])]
        lines = [parts[0]]
        for part in parts[1:]:
            if length(f"{lines[-1]} {part}") <= width:
                lines[-1] += f" {part}"
            else:
                lines.append(indent + part)
        if all(length(one) <= width for one in lines):
            break
    return lines


#: What a brace adds to the depth: more than all brackets.
FORBIDDEN = 100


def _depth(before: str) -> int:
    """How many brackets are open behind a piece of text."""
    depth = 0
    for found in re.finditer(r"\\begin\{\w+\}|\\end\{\w+\}|\\?[{}]|[(\[)\]]", before):
        piece = found[0]
        weight = 1 if piece in "()[]" else FORBIDDEN
        depth += weight if piece in ("(", "[", "{", r"\{") or piece.startswith(r"\begin") else -weight
    return depth


def rendered_length(latex: str) -> int:
    """About how many characters a line of LaTeX has when it is drawn: a command counts as one."""
    shown = re.sub(r"\\(?:text|mathrm|mathbf|operatorname|tfrac|frac)(?![A-Za-z])", "", latex)
    shown = re.sub(r"\\(?:begin|end)\{\w+\}|\\(?:,|;|quad)", "", shown)
    return len(re.sub(r"[{}^_\s&]", "", re.sub(r"\\[A-Za-z]+|\\.", "x", shown)))
