"""From passages or existing notes to candidates, gates and rankings (CrowdNotes+ 4.3; the Supernotes paper)."""
