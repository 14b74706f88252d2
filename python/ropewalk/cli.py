"""The command `ropewalk`. Imports are left to `main`, so that Ctrl-C is answered from the first moment."""

from __future__ import annotations

import sys
from typing import Final

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C: 128 + SIGINT."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 a run failed, 2 the input is wrong, 130 stopped."""
    try:
        from ropewalk.commands import app

        app(prog_name="ropewalk")
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
