"""The program as a demo whose visitors are gone after a moment, for the tests of their going.

``FINCHBOT_DEMO=1 python -m tests.support.short_demo --port … --home … --away-s 2``
"""

import argparse
import sys
from pathlib import Path

from finchbot.compose import Options, serve


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.short_demo")
    parser.add_argument("--port", type=int)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--away-s", type=float)
    given = parser.parse_args()
    options = Options(host="127.0.0.1", port=given.port, home=given.home)
    return serve(options, lambda sentence: None, away_s=given.away_s)


if __name__ == "__main__":
    sys.exit(main())
