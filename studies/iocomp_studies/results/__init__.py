"""Results: lines of JSON, and the rows that figures are made of."""
