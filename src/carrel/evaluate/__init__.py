"""How good a search is: questions whose answers are known, asked, scored and compared."""
