"""The report as one page for a browser, and for A4 out of it.

It opens with the network off: pictures are drawn inside, nothing is fetched, and nothing runs, for the
window shows results without scripts. The table of points is sorted all the same, by style alone: each
row knows its rank in every order.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

from tasks.line.album import Photo
from tasks.line.content import Cell, Heading, Part, Picture, Report, Said, Table, head_of
from tasks.line.drawing import shown, svg

STYLE = """
@page{size:A4;margin:14mm 15mm}
*{box-sizing:border-box}
body{font:10pt/1.45 Helvetica,Arial,sans-serif;color:#1c2430;background:#fff;margin:0 auto;
 max-width:192mm;padding:10mm 6mm}
header{border-bottom:.6mm solid #27406b;margin-bottom:5mm;padding-bottom:3mm}
h1{font-size:20pt;font-weight:400;margin:0 0 1mm}
h2{font-size:13pt;font-weight:600;color:#27406b;margin:9mm 0 2mm;break-after:avoid}
h3{font-size:10.5pt;margin:6mm 0 1mm;break-after:avoid}
p{margin:1.5mm 0}
.quiet,figcaption,label{color:#66707c;font-size:8.5pt}
.loud{border-left:1mm solid #c03a1a;background:#fdf3f0;padding:2mm 3mm;break-inside:avoid}
.stamp{display:inline-block;border:.5mm solid #c03a1a;color:#c03a1a;font-weight:700;
 letter-spacing:.05em;padding:1mm 3mm;margin:0 0 2mm;text-transform:uppercase;font-size:9.5pt}
table{border-collapse:collapse;width:180mm;max-width:100%;table-layout:fixed;font-size:8pt;
 font-variant-numeric:tabular-nums;margin:2mm 0}
th{text-align:left;font-weight:600;color:#66707c;border-bottom:.3mm solid #9aa4b0}
th,td{padding:.7mm 1mm;vertical-align:top;overflow-wrap:anywhere}
td{border-bottom:.15mm solid #d5dae0}
.r{text-align:right}
tr{break-inside:avoid}
tr:target{background:#fff3c9}
thead{display:table-header-group}
a{color:inherit;text-decoration:none;border-bottom:.15mm dotted #66707c}
svg a{border:0}
figure{margin:2mm 0 5mm;break-inside:avoid}
.photo{display:inline-block;width:58mm;margin:0 1mm 3mm 0;vertical-align:top}
.photo img{max-width:100%;display:block}
.photo:target{outline:.6mm solid #e0a92e}
figure svg{display:block;max-width:100%;height:auto}
nav{font-size:9pt;margin:2mm 0}nav a{margin-right:4mm}
.orders input{margin:0 1mm 0 3mm;vertical-align:middle}
@media screen{
 .orders table{display:block}
 .orders thead,.orders tbody{display:flex;flex-direction:column}
 .orders tr{display:grid}
 .orders thead tr{position:sticky;top:0;background:#fff}
}
@media print{body{padding:0;max-width:none}nav,.orders>span,.orders input,.orders label{display:none}}
"""
TOP = "relevance"


def page_of(report: Report, parts: Sequence[Part]) -> Iterator[str]:
    """Yield the report as HTML, piece by piece."""
    title = escape(shown(report.title))
    yield (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>\n'
    )
    stamp = f'<div class="stamp">{escape(report.asked.stamp)}</div>' if report.asked.stamp else ""
    yield f"<header>{stamp}<h1>{title}</h1>"
    yield from _table(head_of(report))
    yield "</header>\n"
    first = (each for each in parts if isinstance(each, Heading) and each.depth == 2)
    links = "".join(f'<a href="#{each.name}">{escape(each.words)}</a>' for each in first)
    yield f"<nav>{links}</nav>\n"
    for part in parts:
        match part:
            case Heading(words, depth, name):
                yield f'<h{depth} id="{escape(name)}">{escape(shown(words))}</h{depth}>\n'
            case Said(words, loud, quiet):
                kind = ' class="loud"' if loud else ' class="quiet"' if quiet else ""
                yield f"<p{kind}>{escape(shown(words))}</p>\n"
            case Picture(drawing, says):
                yield f"<figure>{svg(drawing)}\n<figcaption>{escape(shown(says))}</figcaption></figure>\n"
            case Photo(jpeg, says, name):
                shown_as = f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"
                yield f'<figure class="photo" id="{name}"><img alt="" src="{shown_as}">'
                yield f"<figcaption>{escape(shown(says))}</figcaption></figure>\n"
            case Table():
                yield from _ordered(part) if part.orders else _table(part)
    yield "</body></html>\n"


def _ordered(table: Table) -> Iterator[str]:
    """A table with a choice of orders, by style alone."""
    columns = " ".join(f"{each:g}fr" for each in table.widths)
    rules = "".join(
        f"#o{n}:checked~table tbody tr{{order:var(--o{n})}}"
        for n in range(1, len(table.orders) + 1)
    )
    yield f"<style>@media screen{{.orders tr{{grid-template-columns:{columns}}}{rules}}}</style>\n"
    yield '<div class="orders"><span class="quiet">Sorted by</span>'
    for number, name in enumerate((TOP, *table.orders)):
        checked = " checked" if number == 0 else ""
        yield f'<input type="radio" name="order" id="o{number}"{checked}>'
        yield f'<label for="o{number}">{escape(name)}</label>'
    yield from _table(table)
    yield "</div>\n"


def _table(table: Table) -> Iterator[str]:
    columns = "".join(f'<col style="width:{each:g}mm">' for each in table.widths)
    yield f"<table><colgroup>{columns}</colgroup>"
    if table.heading:
        cells = "".join(
            f"<th{_side(table, n)}>{escape(each)}</th>" for n, each in enumerate(table.heading)
        )
        yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>\n"
    for number, row in enumerate(table.rows):
        name = f' id="{escape(table.names[number])}"' if table.names else ""
        ranks = ";".join(f"--o{n}:{of[number]}" for n, of in enumerate(table.orders.values(), 1))
        style = f' style="{ranks}"' if ranks else ""
        cells = "".join(f"<td{_side(table, n)}>{_cell(each)}</td>" for n, each in enumerate(row))
        yield f"<tr{name}{style}>{cells}</tr>\n"
    yield "</tbody></table>\n"


def _side(table: Table, column: int) -> str:
    return ' class="r"' if column in table.right else ""


def _cell(cell: Cell) -> str:
    words = escape(cell.words)
    return f'<a href="#{escape(cell.leads_to)}">{words}</a>' if cell.leads_to else words
