"""K shifts of any cell, there and back: with scalar weights, and with matrices for weights."""
