"""The command line, one file a command.

Nothing is written here: a package holds its modules as attributes, and one of ours is called `list`.
"""

from carrel.cli.app import cli, main, run

__all__ = ["cli", "main", "run"]
