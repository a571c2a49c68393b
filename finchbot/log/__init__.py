"""The log: English lines in files of the home, without secrets."""

from finchbot.log.frames import frames_of
from finchbot.log.redaction import HIDDEN, Redactor
from finchbot.log.setup import LogHome, Logs, claim_loggers, setup_logging

__all__ = ["HIDDEN", "LogHome", "Logs", "Redactor", "claim_loggers", "frames_of", "setup_logging"]
