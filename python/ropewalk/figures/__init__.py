"""Charts described once and drawn twice: for papers (PNG, SVG) and for the report (interactive)."""

from ropewalk.figures.chart import Bars, Chart, Level, Line, Points
from ropewalk.figures.grid import save_grid
from ropewalk.figures.interactive import fragment
from ropewalk.figures.paper import save

__all__ = ["Bars", "Chart", "Level", "Line", "Points", "fragment", "save", "save_grid"]
