"""Cases: what may happen to one and when (workflow, obstacles), its stages, and the store that keeps it."""
