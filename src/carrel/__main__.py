"""`python -m carrel` is `carrel`."""

from carrel.cli import main

if __name__ == "__main__":
    main()
