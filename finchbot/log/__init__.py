"""The log: English lines in files of the home, without secrets."""

from finchbot.log.redaction import HIDDEN, Redactor
from finchbot.log.setup import LogHome, Logs, claim_loggers, setup_logging

__all__ = ["HIDDEN", "LogHome", "Logs", "Redactor", "claim_loggers", "setup_logging"]
