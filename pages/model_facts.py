"""What is known about the model: which provider it is of, and where the key came from."""

import sys

from pages.frame import Visit

EXAMPLE_ENV = {
    "win32": '$env:OPENAI_API_KEY = "sk-…"\npython app.py',
    "other": 'export OPENAI_API_KEY="sk-…"\npython app.py',
}
EXAMPLE_FILE = """{
  "providers": {"openai": {"api_key": "sk-…"}}
}"""
EXAMPLE_LOCAL = "python app.py --model ollama/qwen2.5"


def is_builtin(visit: Visit) -> bool:
    """Tell whether the built-in rules answer, and no language model does."""
    return visit.info.model.startswith("builtin")


def key_source(visit: Visit) -> str:
    """Say where the provider's key came from."""
    provider = visit.info.model.partition("/")[0]
    fields = visit.settings.fields if visit.settings else {}
    key = fields.get(f"providers.{provider}.api_key")
    if key is None or not key.value:
        return visit.say("health.key.none")
    return visit.say(f"health.key.{key.source}", masked=str(key.value))


def environment_example() -> str:
    """Return the commands for this machine's shell."""
    return EXAMPLE_ENV["win32" if sys.platform == "win32" else "other"]
