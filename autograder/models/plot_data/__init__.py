"""What plots show: their catalog, the numbers from the student's functions, and panels as data. Nothing is drawn here.

`models.plots` draws with Matplotlib, and `page_plots` prepares data for a page.
"""
