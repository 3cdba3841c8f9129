"""The report: tables, figures and conclusions on one page."""
