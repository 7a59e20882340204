"""The example that an empty window offers: a small workflow whose result is a page to look at.

It publishes its two scripts with itself, so it runs on any flock without anything installed, and ends
in half a minute on one machine. It is for the computer of whoever tries it, who sits at it and would
wait for a machine that is idle.
"""

from __future__ import annotations

from pathlib import Path

from agent.client import Home

WORKFLOW = """\
name: first steps
priority: interactive
programs:
  measure: ./measure.py
  report: {run: ./report.py, outputs: [report.html]}
tasks:
  north: {program: measure, parameters: north 6, expected: 6s}
  south: {program: measure, parameters: south 8, expected: 8s}
  report: {program: report, inputs: [north, south], expected: 1s}
"""
MEASURE = '''\
#!/usr/bin/env python3
"""Measures how far the wire hangs above the ground, span by span; told: -x "NAME SECONDS"."""
import math
import sys
import time

name, seconds = sys.argv[-1].split()[0], int(sys.argv[-1].split()[1])
spans = 4 * seconds
with open(f"{name}.csv", "w", encoding="utf-8") as table:
    print("span,clearance_m", file=table)
    for span in range(spans):
        time.sleep(0.25)
        clearance = 11 + 3 * math.sin(span / 3 + len(name) * seconds) - 2 * math.cos(span / 7)
        print(f"{span},{clearance:.2f}", file=table)
        print(f"PROGRESS {100 * (span + 1) / spans:.0f}", flush=True)
print(f"TERMINATED {name}.csv")
'''
REPORT = '''\
#!/usr/bin/env python3
"""Draws what was measured; told: -i TABLE -i TABLE."""
import csv
import sys

LOW_M = 7.5
HEAD = "<!doctype html><meta charset=utf-8><title>First steps</title>"
STYLE = "body{font:16px sans-serif;margin:2em auto;max-width:46em}svg{width:100%;height:11em}"
drawn = [HEAD, f"<style>{STYLE}</style><h1>Clearance of two lines</h1>"]
for path in sys.argv[2::2]:
    with open(path, encoding="utf-8") as table:
        rows = [(int(row["span"]), float(row["clearance_m"])) for row in csv.DictReader(table)]
    places = " ".join(f"{20 * span},{170 - 10 * metres:.1f}" for span, metres in rows)
    lowest = min(rows, key=lambda row: row[1])
    low = [span for span, metres in rows if metres < LOW_M]
    drawn += [
        f"<h2>{len(rows)} spans</h2>",
        f'<svg viewBox="0 0 {20 * len(rows)} 180" preserveAspectRatio="none">',
        f'<line x2="{20 * len(rows)}" y1="{170 - 10 * LOW_M}" y2="{170 - 10 * LOW_M}" stroke="#d55e00"/>',
        f'<polyline points="{places}" fill="none" stroke="#0072b2" stroke-width="3"/></svg>',
        f"<p>Lowest at span {lowest[0]}: {lowest[1]:.2f} m.",
        f"{len(low)} spans are below {LOW_M} m, the line in red.</p>",
    ]
with open("report.html", "w", encoding="utf-8") as page:
    page.write("\\n".join(drawn))
'''


def example_workflow(home: Home) -> Path:
    """Write the example with its programs into the cache of this home, over what is there, and
    return the path of the workflow file. Raises ``OSError`` if that cannot be written."""
    folder = home.example
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("measure.py", MEASURE), ("report.py", REPORT)):
        script = folder / name
        script.write_text(text, "utf-8")
        script.chmod(0o755)
    path = folder / "first-steps.wingbeat.yaml"
    path.write_text(WORKFLOW, "utf-8")
    return path
