"""The providers FinchBot brings: their names, and the environment variables of their keys."""

from collections.abc import Mapping

PROVIDER_ENV: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY", "DS_API_KEY"),
    "moonshot": ("MOONSHOT_API_KEY",),
    "dashscope": ("DASHSCOPE_API_KEY", "ALIBABA_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
    "ollama": (),
    "llamacpp": (),
    "builtin": (),
}
"""Each provider's key variables, the strongest first; the order is that of the catalogue."""


def usual_name(name: str) -> str:
    """Return the name the settings know a provider by: ``OpenAI`` is ours, a user's own stays."""
    lower = name.lower()
    return lower if lower in PROVIDER_ENV else name
