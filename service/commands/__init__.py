"""The command line, one file for each group of commands; each offers `add(subparsers)`."""
