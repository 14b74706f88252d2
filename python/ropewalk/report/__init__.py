"""Reports: one self-contained HTML file, readable without a network."""

from ropewalk.report.page import Claim, Report, Verdict

__all__ = ["Claim", "Report", "Verdict"]
