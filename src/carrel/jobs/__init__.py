"""Documents taken in behind the scenes, by steps that survive whatever happens to the process."""
