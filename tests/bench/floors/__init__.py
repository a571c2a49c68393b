"""The floors: the least program that does the same with the same libraries."""
