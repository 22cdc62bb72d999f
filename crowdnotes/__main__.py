"""`python -m crowdnotes` is the command `crowdnotes`."""

from crowdnotes.cli import main

if __name__ == "__main__":
    main()
