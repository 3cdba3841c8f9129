"""Plan, run and judge measurements of programs that use iocomp; links nothing of it."""
