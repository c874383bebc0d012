"""Files are read in another process, so that one that is broken or hostile costs only itself.

`workers` is for those who have files to read, `process` the side of one worker that asks, `worker` the side that reads,
`messages` and `papers` are what goes between the two. `drawers` and `drawer` are the same for pages that are to be
seen, `child` and `bounds` what both have in common. A worker is bounded in memory, time and output; it is no sandbox
for code that has taken it over. What it says is therefore taken for data, and checked before anyone uses it.
"""
