"""A program's text as a page that a browser shows: coloured, with loops that fold, and every use of a name at a glance.

In: text whose indentation says what is inside of what. Out: a page that needs no other file, and no network.

    for y in …:            ->   <details open><summary>for y in …:</summary> … </details>
        f[y] = 3
"""

from __future__ import annotations

import html
import re

_WORDS = """
    and allocate answer assert case consume else extern false for free if in label let not null or parallel produce
    query select serial then true unrolled vectorized
"""
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<comment>#.*)|(?P<number>(?<![\w.])\d[\w.]*)|(?P<name>[^\W\d][\w$.]*)|(?P<rest>.)',
    re.DOTALL,
)
_KEYWORDS = frozenset(_WORDS.split())
_STYLE = """
body { margin: 2em; font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; color: #24292f; background: #fff }
h1 { font: 600 18px/1.5 system-ui, sans-serif }
p { font-family: system-ui, sans-serif; color: #57606a }
.line, summary { white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 1.2em; text-indent: -1.2em }
details > div { margin-left: .35em; padding-left: 1.6em; border-left: 1px solid #d8dee4 }
summary { cursor: pointer; list-style-position: outside; list-style: none }
summary::before { content: "▾ "; color: #8c959f } details:not([open]) > summary::before { content: "▸ " }
details:not([open]) > summary::after { content: " …"; color: #8c959f }
.line::before { content: "  " }
summary:hover, .line:hover { background: #f6f8fa }
.keyword { color: #cf222e } .number { color: #0550ae } .text { color: #0a3069 } .comment { color: #6e7781 }
.name { cursor: pointer; border-radius: 3px } .lit { background: #fff3bf }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117 } summary:hover, .line:hover { background: #161b22 }
  details > div { border-color: #30363d } p, .comment { color: #8b949e }
  .keyword { color: #ff7b72 } .number { color: #79c0ff } .text { color: #a5d6ff } .lit { background: #5c4a00 }
}
"""
_SCRIPT = """
let chosen = null;
function light(name) {
  for (const e of document.querySelectorAll(".name")) e.classList.toggle("lit", e.textContent === name);
}
document.addEventListener("mouseover", e => { if (!chosen && e.target.matches(".name")) light(e.target.textContent); });
document.addEventListener("mouseout", e => { if (!chosen && e.target.matches(".name")) light(null); });
document.addEventListener("click", e => {
  if (!e.target.matches(".name")) return;
  e.preventDefault();
  chosen = chosen === e.target.textContent ? null : e.target.textContent;
  light(chosen);
});
"""


def page(name: str, text: str) -> str:
    """The page, in which a click folds what is inside of a line, and one on a name marks all of its uses."""
    lines = text.splitlines()
    title = html.escape(name)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n"
        "<p>A click on a line with ▾ folds what is inside; a click on a name marks its uses.</p>\n"
        f"{''.join(_block(lines))}<script>{_SCRIPT}</script>\n</body></html>\n"
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _block(lines: list[str]) -> list[str]:
    """Lines with those that are further in folded below the line before them."""
    found: list[str] = []
    open_at: list[int] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        depth = _indent(line)
        while line.strip() and open_at and open_at[-1] >= depth:
            open_at.pop()
            found.append("</div></details>\n")
        text = _coloured(line.strip(" "))
        if after.strip() and _indent(after) > depth:
            found.append(f"<details open><summary>{text}</summary><div>\n")
            open_at.append(depth)
        else:
            found.append(f'<div class="line">{text}</div>\n')
    return found + ["</div></details>\n"] * len(open_at)


def _coloured(line: str) -> str:
    return "".join(_token(match) for match in _TOKEN.finditer(line))


def _token(match: re.Match[str]) -> str:
    text, kind = html.escape(match.group()), match.lastgroup
    if kind == "rest":
        return text
    if kind == "name" and match.group() in _KEYWORDS:
        kind = "keyword"
    return f'<span class="{kind}">{text}</span>'
