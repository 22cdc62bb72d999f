"""The pages, one file each; `view` holds what they show."""
