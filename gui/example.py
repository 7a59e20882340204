"""The example that an empty window offers: a small workflow whose programs are plain commands.

It publishes its two scripts with itself, so it runs on any flock without anything installed; and it
is for the computer of whoever tries it, who sits at it and would wait for a machine that is idle.
"""

from __future__ import annotations

from pathlib import Path

from agent.client import Home

WORKFLOW = """\
name: first steps
priority: interactive
programs:
  count: ./count.py
  report: ./report.py
tasks:
  north: {program: count, parameters: "12", expected: 12s}
  south: {program: count, parameters: "15", expected: 15s}
  report: {program: report, after: [north, south], expected: 2s}
"""
COUNT = """\
#!/usr/bin/env python3
import sys
import time

seconds = int(sys.argv[sys.argv.index("-x") + 1])
for second in range(seconds):
    time.sleep(1)
    print(f"PROGRESS {100 * (second + 1) / seconds:.0f}", flush=True)
"""
REPORT = """\
#!/usr/bin/env python3
print("Both halves are counted.")
"""


def example_workflow(home: Home) -> Path:
    """Write the example with its programs into the cache of this home, over what is there, and
    return the path of the workflow file. Raises ``OSError`` if that cannot be written."""
    folder = home.cache / "example"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("count.py", COUNT), ("report.py", REPORT)):
        script = folder / name
        script.write_text(text, "utf-8")
        script.chmod(0o755)
    path = folder / "first-steps.wingbeat.yaml"
    path.write_text(WORKFLOW, "utf-8")
    return path
