"""The commands of `depesche`, one file for each group of them."""
