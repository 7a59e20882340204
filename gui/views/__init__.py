"""Small views: each formats what the model says and sends what a person wishes; none keeps state."""
