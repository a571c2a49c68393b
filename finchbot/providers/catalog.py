"""The provider catalogue: one row per provider, and nothing else to write for a new one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Protocol = Literal["openai", "anthropic", "gemini", "builtin", "llamacpp"]
"""The language spoken on the wire."""

ThinkingStyle = Literal["none", "type", "flag", "effort"]
"""How a provider is told whether to think: ``thinking.type``, ``enable_thinking`` or
``reasoning_effort``; ``none`` cannot be told."""

Echo = Literal["nothing", "reasoning", "extra"]
"""What the provider demands back with a tool call: its ``reasoning_content``, or the
``extra_content`` it put on the call."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """One model of one provider."""

    provider: str
    model: str = ""
    """Empty for ``builtin``, which is a model by itself."""

    def __str__(self) -> str:
        """Return ``provider/model``."""
        return f"{self.provider}/{self.model}" if self.model else self.provider


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """What FinchBot knows about a provider."""

    name: str
    key_names: tuple[str, ...] = ()
    """Environment variables of the key, the strongest first; none means no key is needed."""
    base_url: str = ""
    implied_by: tuple[str, ...] = ()
    """Beginnings of model names that imply this provider."""
    default_model: str = ""
    protocol: Protocol = "openai"
    echo: Echo = "nothing"
    thinking: ThinkingStyle = "none"
    idle_timeout_s: float = 120.0
    """The longest silence on the line before the provider counts as gone."""

    @property
    def needs_key(self) -> bool:
        """Whether the provider refuses callers without a key."""
        return bool(self.key_names)

    def implies(self, model: str) -> bool:
        """Return whether the bare name `model` is of this provider's family."""
        return model.lower().startswith(self.implied_by)


# Anthropic and Gemini document an OpenAI-protocol endpoint for text and tools:
# https://platform.claude.com/docs/en/api/openai-sdk and
# https://ai.google.dev/gemini-api/docs/openai
CATALOG: tuple[ProviderSpec, ...] = (
    ProviderSpec(
        "openai",
        ("OPENAI_API_KEY",),
        "https://api.openai.com/v1",
        ("gpt", "o1", "o3", "o4"),
        "gpt-5.4-mini",
        thinking="effort",
    ),
    ProviderSpec(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com/v1",
        ("claude",),
        "claude-sonnet-5-5",
    ),
    ProviderSpec(
        "deepseek",
        ("DEEPSEEK_API_KEY", "DS_API_KEY"),
        "https://api.deepseek.com/v1",
        ("deepseek",),
        "deepseek-v4-flash",
        echo="reasoning",
        thinking="type",
    ),
    ProviderSpec(
        "moonshot",
        ("MOONSHOT_API_KEY",),
        "https://api.moonshot.cn/v1",
        ("moonshot", "kimi"),
        "kimi-k2.6",
        echo="reasoning",
        thinking="type",
    ),
    ProviderSpec(
        "dashscope",
        ("DASHSCOPE_API_KEY", "ALIBABA_API_KEY"),
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        ("qwen", "qwq", "tongyi"),
        "qwen-plus",
        thinking="flag",
    ),
    ProviderSpec(
        "groq",
        ("GROQ_API_KEY",),
        "https://api.groq.com/openai/v1",
        ("llama", "mixtral"),
        "openai/gpt-oss-120b",
        thinking="effort",
    ),
    ProviderSpec(
        "gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("gemini",),
        "gemini-flash-latest",
        echo="extra",
        thinking="effort",
    ),
    ProviderSpec(
        "openrouter",
        ("OPENROUTER_API_KEY",),
        "https://openrouter.ai/api/v1",
        (),
        "openrouter/auto",
        thinking="effort",
    ),
    ProviderSpec(
        "huggingface",
        ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
        "https://router.huggingface.co/v1",
        (),
        "openai/gpt-oss-120b",
    ),
    # A local server loads the model and reads the prompt in silence.
    ProviderSpec("ollama", (), "http://127.0.0.1:11434/v1", (), "llama3.2", idle_timeout_s=600.0),
    ProviderSpec("llamacpp", protocol="llamacpp"),
    ProviderSpec("builtin", protocol="builtin"),
)

BUILTIN = ModelRef("builtin")
"""What answers when nothing else can."""

CUSTOM = "custom"
"""``custom.<name>/<model>`` names a provider of the user's own; so does ``<name>/<model>``."""


def custom_spec(name: str) -> ProviderSpec:
    """Return the row of a provider that only the settings know; it speaks OpenAI's protocol."""
    return ProviderSpec(name, idle_timeout_s=600.0)


def find(name: str, catalog: Iterable[ProviderSpec] = CATALOG) -> ProviderSpec | None:
    """Return the row called `name`, in any case of letters; None when there is none."""
    return next((spec for spec in catalog if spec.name == name.lower()), None)
