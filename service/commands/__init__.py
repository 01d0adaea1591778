"""What the command line can do, one file per errand; each offers `add(subparsers)`."""
