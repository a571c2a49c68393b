"""`python -m finchbot`: the terminal's way in."""

from finchbot.cli.main import leave, main

if __name__ == "__main__":
    leave(main())
