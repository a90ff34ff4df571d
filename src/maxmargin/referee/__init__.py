"""An independent referee: certificates checked in exact arithmetic, by none of the library's code.

``python -m maxmargin.referee MODEL DATA`` checks a model file, or a proof as JSON.
"""

from .check import check
from .read import Unknown
from .report import VERDICTS, Report

__all__ = ["VERDICTS", "Report", "Unknown", "check"]
