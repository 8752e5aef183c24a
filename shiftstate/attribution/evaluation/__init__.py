"""How good are the models for these texts? Every text held out in turn."""
