"""FinchBot: a personal AI agent that lives on your own machine and remembers you."""

__version__ = "0.1.0"
