"""Any cross-encoder that lies in a folder as ONNX: `onnx-cross-encoder:models/ms-marco-MiniLM-L6-v2`.

A cross-encoder reads question and passage together. Its folder is laid out as `carrel.encoders` says; the graph is one
for sequence classification, with one label or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.encoders import BATCH_TOKENS, OVERLAP, Encoder, longest_input, place
from carrel.encoders.windows import encode_windows, split
from carrel.errors import InvalidInput, ModelDamaged
from carrel.rerankers.models import Deadline, probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.encoders.windows import Tokens
    from carrel.types import Candidate, Matrix

    Pairs = list[tuple[int, int]]
    """Tokens, each with its type: of the question or of the passage."""


@dataclass(frozen=True)
class Frame:
    """The special tokens that the model wants around a question and a passage."""

    before: Pairs
    between: Pairs
    after: Pairs
    question_type: int
    passage_type: int

    def __len__(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)

    def around(self, question: Tokens, windows: Tokens) -> Tokens:
        """Each window behind the question; the last axis has every token and its type."""
        import numpy as np

        head = [*self.before, *((int(token), self.question_type) for token in question), *self.between]
        sides = (np.array(pairs, dtype=np.int64).reshape(1, -1, 2) for pairs in (head, self.after))
        first, last = (np.tile(side, (len(windows), 1, 1)) for side in sides)
        typed = np.stack([windows, np.full_like(windows, self.passage_type)], axis=2)
        return np.concatenate([first, typed, last], axis=1)


class CrossEncoder(Encoder):
    """A passage longer than the model takes is read in windows and as good as the best of them; so is a question."""

    costly = True

    def __init__(
        self,
        argument: str,
        *,
        folder: Path | None = None,
        confined: bool = False,
        threads: int | None = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(place(argument, folder or Path(), confined=confined, setting="reranker"), threads)
        self.timeout = timeout

    @cached_property
    def name(self) -> str:
        """The folder's, with a mark of the model's files: another model there has another name."""
        return f"onnx-cross-encoder:{self.directory.name}-{self._mark(self.max_tokens)}"

    @cached_property
    def max_tokens(self) -> int:
        return longest_input(self.directory)

    def score(self, query: str, candidates: Sequence[Candidate]) -> list[float]:
        import numpy as np

        if not candidates:
            return []
        deadline = Deadline(self.timeout)
        passages = [self._tokenise(candidate.chunk.embedded_text) for candidate in candidates]
        questions = _windows(self._tokenise(query), self._room // 2)
        best = np.max([self._read(question, passages, deadline) for question in questions], axis=0)
        return [probability(float(logit)) for logit in best]

    @property
    def _room(self) -> int:
        """How many tokens of question and passage the model takes."""
        room = self.max_tokens - len(self._frame)
        if room < 2:
            raise InvalidInput(
                f"the model {str(self.directory)!r} takes {self.max_tokens} tokens, which leaves no room for text",
                hint="Look at max_position_embeddings and model_max_length in its config files.",
            )
        return room

    def _read(self, question: Tokens, passages: Sequence[Tokens], deadline: Deadline) -> Matrix:
        """The best logit of each passage's windows, all read together with this question."""
        import numpy as np

        cut = [_windows(passage, self._room - len(question)) for passage in passages]
        encode = partial(self._logits, question=question, deadline=deadline)
        flat = [window for windows in cut for window in windows]
        logits = encode_windows(flat, encode, batch_tokens=BATCH_TOKENS, threads=self.threads)
        best: Matrix = np.maximum.reduceat(logits[:, 0], list(accumulate(map(len, cut), initial=0))[:-1])
        return best

    def _logits(self, windows: Tokens, question: Tokens, deadline: Deadline) -> Matrix:
        """One column: how strongly the model is for each window rather than against it."""
        import numpy as np

        deadline.check(self.name)
        pairs = self._frame.around(question, windows)
        logits = self._for(self._run_graph(self._scores, pairs[..., 0], pairs[..., 1]))
        if not np.isfinite(logits).all():
            raise ModelDamaged(f"the model {str(self.graph)!r} gives no numbers", hint="Try its float32 version.")
        return logits

    def _for(self, output: Matrix) -> Matrix:
        """Of two labels, the second's softmax is the logistic function of their difference."""
        if output.ndim == 1 or output.shape[1:] == (1,):
            return output.reshape(-1, 1)
        if output.shape[1:] == (2,):
            return output[:, 1:] - output[:, :1]
        raise InvalidInput(
            f"the output {self._scores!r} of {str(self.graph)!r} has the shape {output.shape}, not a score a pair",
            hint="Export the model for sequence classification, with one label or two.",
        )

    @cached_property
    def _scores(self) -> str:
        return self._output("logits")

    @cached_property
    def _frame(self) -> Frame:
        encoded = self._tokenizer.encode("a", "a")
        pairs = list(zip(encoded.ids, encoded.type_ids, strict=True))
        question, passage = ([at for at, of in enumerate(encoded.sequence_ids) if of == side] for side in (0, 1))
        if not question or not passage:
            raise ModelDamaged(
                f"the tokenizer {str(self.tokenizer_file)!r} does not know the letter 'a'", hint="Fetch it again."
            )
        return Frame(
            before=pairs[: question[0]],
            between=pairs[question[-1] + 1 : passage[0]],
            after=pairs[passage[-1] + 1 :],
            question_type=pairs[question[0]][1],
            passage_type=pairs[passage[0]][1],
        )

    def _tokenise(self, text: str) -> Tokens:
        import numpy as np

        whole = text.encode("utf-8", errors="replace").decode("utf-8")
        return np.array(self._tokenizer.encode(whole, add_special_tokens=False).ids, dtype=np.int64)


def _windows(tokens: Tokens, size: int) -> list[Tokens]:
    return split(tokens, size=size, overlap=min(OVERLAP, size // 4))
