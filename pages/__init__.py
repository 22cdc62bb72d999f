"""The pages, one file each, and their parts."""
