"""`python -m finchbot`: the terminal's way in."""

import sys

from finchbot.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
