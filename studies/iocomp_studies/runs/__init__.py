"""Run the cells of a study, here or as jobs of Slurm, and keep every result."""
