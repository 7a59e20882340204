"""What the screen shows, without Qt: snapshots and events folded into rows, sentences and marks."""
