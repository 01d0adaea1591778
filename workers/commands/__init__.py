"""Commands that start workers, or look at their work; each module has `add(subparsers)`."""
