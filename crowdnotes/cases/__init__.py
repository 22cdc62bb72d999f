"""Cases: the workflow (which step may follow which, and what it demands), the store, the audit trail."""
