"""What the studies of long reach are made of: the models, the network around them, records."""
