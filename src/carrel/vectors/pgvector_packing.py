"""Vectors as PostgreSQL sends and takes them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    from carrel.types import Vector

_HEAD = struct.Struct(">HH")
"""The dimension, and nothing."""


class Packed(bytes):
    """A vector in the server's own form: its numbers are not written out and read again."""


class _PackedDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Packed) -> bytes:
        return obj


psycopg.adapters.register_dumper(Packed, _PackedDumper)


def packed(vector: Vector, type_name: str) -> Packed:
    return Packed(_HEAD.pack(len(vector), 0) + vector.astype(_form(type_name)).tobytes())


def unpacked(value: bytes, type_name: str) -> Vector:
    vector: Vector = np.frombuffer(value, dtype=_form(type_name), offset=_HEAD.size).astype(np.float32)
    return vector


def _form(type_name: str) -> str:
    return ">f2" if type_name == "halfvec" else ">f4"
