"""The benches: every figure beside its floor in the same run. See `tests.bench.__main__`."""
