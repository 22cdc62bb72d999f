"""Where things are kept: the database, its tables and its migrations."""
