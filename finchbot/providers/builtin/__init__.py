"""The `builtin` model: rules instead of a language model, driving the same graph.

`understand` tells what a message asks for, `plan` what to do next, `speak` what to say;
`model` is the LangChain face of the three.
"""

from finchbot.providers.builtin.model import BuiltinChatModel

__all__ = ["BuiltinChatModel"]
