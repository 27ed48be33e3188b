"""What is graded: one pytest module per assignment. A check calls the student and PyTorch and compares."""
