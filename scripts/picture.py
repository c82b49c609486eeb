"""Draw a block as the SVG picture in README.md, which `scripts/readme` writes."""

from __future__ import annotations

import textwrap
from html import escape

COLUMNS = 92
LINE, LETTER, MARGIN = 19, 7.83, 22
FRAME, PAPER, TEXT = "#30363d", "#0d1117", "#e6edf3"
COLOURS = {"> ": "#7ee787", "- ": "#79c0ff", "  ": TEXT}
OWN_LINE = "#8b949e"


def picture(prompt: str, block: str) -> str:
    """Return the SVG of a prompt and the block that the model receives with it."""
    rows = [*_rows(f"> {prompt}"), ("", TEXT), *(row for line in block.splitlines() for row in _rows(line))]
    width, height = round(COLUMNS * LETTER + 2 * MARGIN), len(rows) * LINE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f"<title>{escape(prompt)}</title>",
        f'<rect width="{width - 1}" height="{height - 1}" x="0.5" y="0.5" rx="8" fill="{PAPER}" stroke="{FRAME}"/>',
        '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">',
    ]
    for number, (text, colour) in enumerate(rows):
        lines.append(f'<text x="{MARGIN}" y="{MARGIN + 13 + number * LINE}" fill="{colour}">{escape(text)}</text>')
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _rows(line: str) -> list[tuple[str, str]]:
    colour = COLOURS.get(line[:2], OWN_LINE)
    indent = "  " if line.startswith(("  ", "- ")) else ""
    rows = textwrap.wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True)
    return [(row, colour) for row in rows or [""]]
