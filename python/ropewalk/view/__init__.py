"""`ropewalk view`: what happened in a run, and why, as one page that works without a network."""

from ropewalk.view.page import html as html
from ropewalk.view.page import write as write
from ropewalk.view.runs import Shown as Shown
from ropewalk.view.runs import of_result as of_result
from ropewalk.view.runs import of_store as of_store
