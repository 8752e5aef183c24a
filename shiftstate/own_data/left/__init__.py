"""What a run leaves: the model, predictions, metrics, pictures."""
