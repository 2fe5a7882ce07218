"""What is there: the immutable snapshot of every root, and the one module that touches files (`disk`)."""
