"""The program ``vidrec``."""

import signal
import sys

from . import _isolated, _vidrec


def main() -> int:
    """Run the program with the arguments of this process; its exit status."""
    # Python would only note Ctrl-C, and act on it when the program is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] == ["bench"]:
        from ._device import bench

        if bench.is_asked(sys.argv[1:]):
            return bench.main(sys.argv[2:])
    return _vidrec.main(_isolated.command() or [], ["vidrec", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
