"""The one place where threads meet: questions go in, answers and bundles of notices come out."""
