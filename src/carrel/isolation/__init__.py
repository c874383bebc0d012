"""Files are read in another process, so that one that is broken or hostile costs only itself.

`workers` is for those who have files to read, `process` the side of one worker that asks, `worker` the side that reads,
`messages` and `papers` are what goes between the two. A worker is bounded in memory, time and output; it is no sandbox
for code that has taken it over. What it says is therefore taken for data, and a paper is checked before anyone uses it.
"""
