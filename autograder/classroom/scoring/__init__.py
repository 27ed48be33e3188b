"""Compute the scores of students from their points and the policy, and write the class document."""
