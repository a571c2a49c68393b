"""FinchBot's one entry: `python app.py` serves chat, admin, API and socket on one port.

The same file is the `app_file` of a Hugging Face Space. It loads nothing heavy itself: the port
answers while the rest is still being imported (see `finchbot.server.boot`).
"""

import sys

from finchbot.cli.main import leave, main

if __name__ == "__main__":
    leave(main(["serve", *sys.argv[1:]]))
