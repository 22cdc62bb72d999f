"""Cases: what may happen to one and when, the stages that work on it, and the store that keeps it."""
