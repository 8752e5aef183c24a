"""People's own data: from files to a trained model, its scores beside those of baselines, and predictions."""

from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.predicting import predict
from shiftstate.own_data.training import train

__all__ = ["TrainSettings", "predict", "train"]
