"""Where things are kept: the database's tables, its migrations, and one tongue for its errors."""
