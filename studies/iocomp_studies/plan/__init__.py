"""What a study runs: its file, its cells, and how each client is called."""
