"""``python -m tests.bench [NAME …]``: measure, print one table, fail when a reach is missed.

Every figure is taken beside its floor in the same run: pairs that take turns, medians, each side
and the model in a process of its own. The exit code is 1 when a figure misses its reach by more
than `report.CLEAR_MARGIN`, 2 for a name that is none.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench import growth, latency, machine, sockets, start
from tests.bench.report import Figure, missed, table

Measure = Callable[[Path], list[Figure]]

ROWS: dict[str, Measure] = {
    "start": start.first_response,
    "answer": start.first_answer,
    "ws": latency.over_the_socket,
    "page": latency.in_the_page,
    "sockets": sockets.many_at_once,
    "growth": growth.one_long_thread,
}


def main(names: Sequence[str]) -> int:
    """Measure the named rows, all when there are none, and return the exit code."""
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        say(f"no such row: {', '.join(unknown)}; there are {', '.join(ROWS)}")
        return 2
    say(machine.description())
    quiet = machine.is_quiet()
    figures = [figure for name in names or ROWS for figure in _measure(name)]
    say(f"\n{table(figures, quiet=quiet)}")
    misses = missed(figures, quiet=quiet)
    if misses:
        say(f"\nmissed: {'; '.join(misses)}")
    return 1 if misses else 0


def _measure(name: str) -> list[Figure]:
    began, load = time.perf_counter(), machine.load()
    with tempfile.TemporaryDirectory(prefix=f"finchbot-bench-{name}-") as folder:
        figures = ROWS[name](Path(folder))
    took = time.perf_counter() - began
    say(f"  {name}: {took:.0f} s, load {load:.2f} → {machine.load():.2f}")
    return figures


def say(text: str) -> None:
    """Print for the person who started the bench."""
    # T201: a command line program speaks through its output.
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
