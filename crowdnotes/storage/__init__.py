"""The database: opening it, its tables and its migrations."""
