"""The library as tools for agents."""
