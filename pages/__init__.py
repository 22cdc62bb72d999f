"""The pages, one file each; `common` and the folders `…_parts` hold what they show."""
