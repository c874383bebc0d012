"""Carrel over HTTP: JSON in camelCase, answers as server-sent events, and what a machine room wants to know."""

from __future__ import annotations

from carrel.http.app import create

__all__ = ["create"]
