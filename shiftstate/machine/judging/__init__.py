"""What results say: effects, claims, the summary, tables and figures."""
