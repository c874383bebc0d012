"""The library as tools for agents.

    wishes ─→ tools (finding, asking, reading, adding) ─→ shapes, within a budget ─→ inert ─→ the wire

A tool gets a `Call` and what its caller wishes, and gives a shape. The server checks wishes, runs tools off the event
loop, and turns errors into results that say what to do. What papers say is data on the way out: see `inert`.
"""
