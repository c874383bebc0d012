"""Twelve short papers, each of which defines something, shows a figure and cites the one before."""

from __future__ import annotations

from carrel import Library, chunking
from carrel.catalogs import Entry
from carrel.chunking import Limits
from carrel.parsers.building import Builder
from carrel.types import Author, BlockKind, Cited, Document, ExhibitKind, Paper, Part, Published, Reference

# id, title, a sentence that defines, what else there is to say, a caption, what the text says of the figure
TOPICS = (
    (
        "tides",
        "How tidal pools recover after storms",
        "A tidal pool is a basin on the shore that keeps sea water when the tide goes out.",
        "Limpets and anemones return first, and crabs follow within weeks once the rock is covered by weed again.",
        "Number of limpets on the rock in each week after the storm",
        "Grazers came back in the third week, long before the crabs, which waited for cover.",
    ),
    (
        "bees",
        "What makes honey bees leave a hive in spring",
        "Swarming is the process in which a queen leaves with half of her workers to found another colony.",
        "Crowding of the brood nest precedes it, and scouts begin to dance for cavities days before the departure.",
        "Weight of the hive and dances for cavities over ten days in May",
        "Scouts danced most on the two days before the colony split, when the combs were heaviest.",
    ),
    (
        "glass",
        "Slow flow in window glass of old churches",
        "Viscosity refers to the resistance with which a liquid opposes any change of its shape.",
        "Medieval panes are thicker below because of how they were cast; at room temperature nothing moves in ages.",
        "Thickness of twenty panes measured from the upper edge down",
        "Panes differ by casting, and no trend with their age remains once the workshop is accounted for.",
    ),
    (
        "sleep",
        "Short naps and the memory of word pairs",
        "We define a nap as an interval of sleep in daylight that lasts less than forty minutes.",
        "Volunteers learned pairs of nouns in the morning, and those who rested recalled more of them in the evening.",
        "Recalled pairs of nouns by minutes of rest after lunch",
        "Recall rises up to twenty minutes of rest and stays level from there on, for young and old alike.",
    ),
    (
        "bridges",
        "Wind tunnels for footbridges made of timber",
        "Flutter is an oscillation that feeds on the energy of steady wind until the structure fails.",
        "Slender decks of larch were tested with railings of three heights, as railings catch more air than decks do.",
        "Amplitude of a timber deck against the speed of the wind",
        "Above eighteen metres a second the deck with closed railings swings without bound.",
    ),
    (
        "yeast",
        "Why brewers' yeast forgets how to eat maltose",
        "Catabolite repression is a mechanism that keeps genes for other sugars silent while glucose is there.",
        "Strains kept on pure glucose for a hundred generations lost the transporter and never regained it.",
        "Growth of three strains on maltose after a hundred generations",
        "Two of the strains no longer grow, and the third needs days to begin.",
    ),
    (
        "maps",
        "Reading contour lines with the fingertips",
        "A tactile map is a relief that lets blind hikers read slopes and summits by touch.",
        "Embossed contours were told apart at two millimetres by all, and at one millimetre by half of the readers.",
        "Share of readers who told two embossed contours apart",
        "Most readers fail when contours come nearer than a millimetre and a half.",
    ),
    (
        "ants",
        "Traffic rules on the trails of harvester ants",
        "A foraging trail is a cleared path which workers mark with scent and keep free of litter.",
        "Loaded workers hold the middle, unladen ones yield, and jams dissolve without any worker in charge.",
        "Speed of loaded and unladen workers by density of the trail",
        "Unladen workers slow down twice as much as loaded ones when the trail fills.",
    ),
    (
        "clocks",
        "Pendulum clocks that fall into step",
        "Synchronisation refers to the adjustment of rhythms of oscillators by a weak coupling between them.",
        "Two clocks on one beam exchange tiny pushes and end in opposite phase after about half an hour.",
        "Phase between two clocks on one beam in the first hour",
        "After thirty minutes the phase settles at one half and stays there until the beam is cut.",
    ),
    (
        "snow",
        "Layers of snow that let avalanches go",
        "Depth hoar is a layer of cup-shaped crystals that forms near the ground when the air is cold.",
        "Such crystals bond badly, and a loaded slope above them may glide after any small disturbance.",
        "Strength of the weakest layer on six slopes over the winter",
        "Slopes in the shade keep their weak layer until March, those in the sun lose it by January.",
    ),
    (
        "frogs",
        "Choruses of tree frogs beside a motorway",
        "A chorus is an assembly of males that call in turns to attract females to a pond.",
        "Beside the road males call higher and faster, and females take longer to find the one they choose.",
        "Pitch of calls at ponds by their distance from the motorway",
        "Calls are a third higher at ponds next to the road than in the forest.",
    ),
    (
        "bread",
        "Sourdough kept alive in home kitchens",
        "A starter is a mixture of flour and water in which wild yeasts and bacteria live together.",
        "Kitchens exchanged starters by post; within a month each had become like those of its new home.",
        "Kinds of bacteria in starters before and after the exchange",
        "After four weeks a starter resembles its kitchen more than its origin.",
    ),
)


def own_papers() -> list[Paper]:
    return [_paper(number) for number in range(len(TOPICS))]


def put_whole(library: Library, *papers: Paper) -> Library:
    """Into the catalog and every index, a chunk for each chapter."""
    limits, count_tokens = Limits(least=40, target=200, most=400), library.embedder.count_tokens
    library.stores.catalog.put([
        Entry(
            one.reference,
            Document(one.reference.id, Part.BODY, one.text, f"digest of {one.reference.id}"),
            chunking.split(one, count_tokens=count_tokens, limits=limits),
            exhibits=one.exhibits,
            cited=one.cited,
        )
        for one in papers
    ])  # fmt: skip
    library.build_index()
    return library


def _paper(number: int) -> Paper:
    name, title, definition, rest, caption, shown = TOPICS[number]
    other = TOPICS[number - 1]
    builder = Builder()
    builder.put_heading(title, 1)
    builder.put_heading("Introduction", 2)
    builder.put(BlockKind.TEXT, f"{definition} {rest} {rest}")
    builder.put(
        BlockKind.TEXT, f"Earlier observers had already looked closely at the matter that {other[3].lower()} [1]"
    )
    builder.put_heading("Results", 2)
    builder.put(BlockKind.TEXT, f"{shown} All of it is to be seen in Figure 1. {rest} {shown}")
    start = builder.position
    builder.put(BlockKind.CAPTION, f"Figure 1: {caption}.")
    builder.exhibit(ExhibitKind.FIGURE, start, caption=f"Figure 1: {caption}.")
    builder.put_heading("References", 2)
    builder.put_cited(Cited(f"1. Observer A. {other[1]}. 2019.", other[1], "", 2019))
    reference = Reference(name, title, authors=(Author("Observer", "Ann"),), published=Published(2020))
    return builder.paper(reference, format="test", language="en")
