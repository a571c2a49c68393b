"""Golden files: what the program wrote when somebody last looked and agreed."""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "golden"


@dataclass(frozen=True, slots=True)
class Golden:
    """Compares text with ``tests/golden/<name>``; writes it when `update` is set."""

    update: bool
    folder: Path = FOLDER

    def __call__(self, name: str, text: str) -> None:
        """Hold `text` against the file.

        Raises:
            AssertionError: The file is not there, or says something else.
        """
        file = self.folder / name
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
            return
        assert file.exists(), f"{name} is not there yet: run pytest --update-golden and read it"
        with file.open(encoding="utf-8", newline="") as kept:
            assert text == kept.read(), f"{name} has changed: read the diff, then --update-golden"
