"""What the figures were measured on, and how busy it was."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("gradio", "streamlit", "langgraph", "langchain", "openai", "uvicorn")


def load() -> float:
    """Return how many processes wanted to run during the last minute."""
    return os.getloadavg()[0]


def is_quiet() -> bool:
    """Whether at least one processor was idle during the last minute."""
    return load() <= max(0.5, (os.cpu_count() or 1) - 1)


def description() -> str:
    """Return one paragraph about the machine."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    loads = " ".join(f"{value:.2f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} × {_processor()}, {_memory_gb():.0f} GB, {platform.system()} "
        f"{platform.release()}\nPython {platform.python_version()}, {libraries}\n"
        f"load average at the start: {loads} ({'quiet' if is_quiet() else 'busy'})"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
