"""The command ``maxmargin``, also ``python -m maxmargin``."""

import gc

from maxmargin.app.cli.interrupt import ignore, take_over


def main() -> None:
    take_over()  # before anything that takes time is imported
    from maxmargin.app.cli.app import main as run

    try:
        run()
    finally:
        ignore()
        gc.freeze()  # all memory goes with the process: nobody need look for garbage in it


if __name__ == "__main__":
    main()
