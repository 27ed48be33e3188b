"""Courses that ship with Headway."""
