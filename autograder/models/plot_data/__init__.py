"""What plots show: their catalog, the numbers from the student's functions, and panels as data. Nothing is drawn here.

`workspace.plots` draws with Matplotlib, `workspace.page_plots` prepares data for a page.
"""
