"""How sure an answer is: calibrated chances, strangers, changes of hand, and which model to trust."""
