"""What the pages are made of: one file a step of the Draft page, and what the steps share."""
