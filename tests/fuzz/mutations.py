"""Mutations: of bytes, texts, JSON values, tables of text and arrays, each drawn from a `Random`.

Hypothesis and atheris draw its seed.
"""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGERS = (0, 1, -1, 2, 3, 7, 62, 126, 127, 128, 255, 256, 1000, 2**16, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1)
HUGE = (2**63, -(2**63), 2**64, 10**40, 10**400, 1e308, -1e308, 5e-324, 1e-300, 0.1, -0.0, 1.5)
TEXTS = (
    *("", " ", "0", "1", "-1", "nan", "inf", "-inf", "1e999", "1e-999", "1/0", "1/3", "9" * 400, "1e999999999"),
    *(
        "0x10",
        "1_000",
        "٣",
        "½",
        "true",
        "null",
        "None",
        "\x00",
        "\x1f",
        "\n",
        "\r\n",
        "\t",
        '"',
        "'",
        "\\",
        "=1+1",
    ),
    *(
        "é",
        "e\u0301",
        "\u202e",
        "\ufeff",
        "\U0001f600",
        "\ud800",
        "a" * 300,
        "../x",
        "/etc/passwd",
        "a,b",
        "{}",
        "[",
    ),
    *("km", "m", "/km", "per km", "EPSG:4326", "EPSG:2154", "+proj=aeqd", "2024-03-01T18:30:00Z", "1700000000"),
)


def times(rng: Random, most: int = 4) -> range:
    """Return how often to mutate: mostly once."""
    return range(1 + min(rng.randrange(most), rng.randrange(most)))


def changed_bytes(rng: Random, data: bytes, others: list[bytes] | None = None) -> bytes:
    """Return bytes with flips, cuts, repetitions, numbers written over them, or a piece of another seed."""
    content = bytearray(data)
    for _ in times(rng, 5):
        size = len(content)
        place = rng.randrange(size + 1)
        kind = rng.randrange(9)
        if kind == 0 and size:
            content[place % size] ^= 1 << rng.randrange(8)
        elif kind == 1 and size:
            content[place % size] = rng.randrange(256)
        elif kind == 2:
            del content[place : place + 1 + rng.randrange(8)]
        elif kind == 3:
            del content[place:]
        elif kind == 4:
            content[place:place] = content[place : place + 1 + rng.randrange(64)]
        elif kind == 5:
            number = rng.choice(INTEGERS) % (1 << 64)
            width = rng.choice((1, 2, 4, 8))
            content[place : place + width] = (number % (1 << 8 * width)).to_bytes(
                width, rng.choice(("little", "big"))
            )
        elif kind == 6:
            content[place:place] = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
        elif kind == 7 and others:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            content[place : place + rng.randrange(64)] = other[start : start + rng.randrange(200)]
        else:
            content[place:place] = bytes(rng.randrange(256) for _ in range(1 + rng.randrange(4)))
    return bytes(content)


def scalar(rng: Random) -> Any:
    """Return a value that readers may not expect."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind < 3:
        return rng.choice(INTEGERS)
    if kind == 3:
        return rng.choice(HUGE)
    if kind < 6:
        return rng.choice(TEXTS)
    if kind == 6:
        return rng.choice(([], {}, [[]], [None], {"a": 1}, [1, 2], ["x"], {"": []}))
    deep: Any = 0
    for _ in range(rng.choice((3, 20, 100))):
        deep = [deep] if rng.random() < 0.5 else {"tuple": [deep]}
    return deep


def changed_json(rng: Random, value: Any) -> Any:
    """Return a JSON value with nodes replaced, removed, repeated or exchanged."""
    found = copy.deepcopy(value)
    for _ in times(rng):
        where = _nodes(found)
        if not where:
            return scalar(rng)
        holder, key = rng.choice(where)
        kind = rng.randrange(8)
        now = holder[key]
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(now))
        elif kind == 2:
            other, place = rng.choice(where)
            holder[key] = (
                copy.deepcopy(other.get(place) if isinstance(other, dict) else other[place % len(other)])
                if len(other)
                else None
            )
        elif kind == 3 and isinstance(holder, dict):
            holder[rng.choice(TEXTS[:-1])] = holder.pop(key)
        elif kind < 6:
            holder[key] = near(rng, now)
        else:
            holder[key] = scalar(rng)
    return found


def near(rng: Random, value: Any) -> Any:
    """Return a value like another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return (
            value + rng.choice((1, -1, 2, -2))
            if rng.random() < 0.5
            else rng.choice((-value, value * 2, value // 2))
        )
    if isinstance(value, float):
        return value * rng.choice((-1, 0, 0.5, 2, 1 + 1e-12, 10)) + rng.choice((0, 0, 1e-9))
    if isinstance(value, str):
        return changed_text(rng, value)
    if isinstance(value, list) and value:
        return [*value[1:], value[0]]
    return scalar(rng)


def changed_text(rng: Random, text: str, words: tuple[str, ...] = TEXTS) -> str:
    """Return a text with letters removed, repeated or replaced, or words put in."""
    for _ in times(rng):
        place = rng.randrange(len(text) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:place] + text[place + 1 + rng.randrange(3) :]
        elif kind == 1:
            text = text[:place] + rng.choice(words) + text[place:]
        elif kind == 2:
            text = text[:place] + rng.choice(words) + text[place + 1 :]
        elif kind == 3:
            text = (
                text[:place] + chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x250)))) + text[place + 1 :]
            )
        elif kind == 4:
            text = text[:place] + text[place : place + 1] * rng.choice((2, 3, 20)) + text[place + 1 :]
        else:
            text = text[place:] + text[:place]
    return text


def changed_table(rng: Random, text: str) -> str:
    """Return a table of text with other cells, lines, names or delimiters."""
    delimiter = max(",\t;|", key=text.count)
    lines = [line.split(delimiter) for line in text.splitlines()]
    for _ in times(rng):
        if not lines:
            break
        row = rng.randrange(len(lines))
        column = rng.randrange(max(1, len(lines[row])))
        kind = rng.randrange(10)
        if kind < 4 and lines[row]:
            lines[row][column] = rng.choice(TEXTS)
        elif kind == 4 and lines[row]:
            lines[row][column] = changed_text(rng, lines[row][column])
        elif kind == 5:
            lines.insert(row, list(lines[rng.randrange(len(lines))]))
        elif kind == 6:
            del lines[row]
        elif kind == 7:
            lines[row].insert(column, rng.choice(TEXTS))
        elif kind == 8:
            lines[0][column % len(lines[0])] = rng.choice(
                ("lat", "x", "y", "geometry", "time", "user", "", "f0", "lat")
            )
        else:
            for line in lines:
                line[column:column] = line[column : column + 1]
    if rng.randrange(6) == 0:
        delimiter = rng.choice((",", "\t", ";", "|", " ", ""))
    return rng.choice(("\n", "\n", "\r\n", "\r", "\n\n")).join(delimiter.join(line) for line in lines)


def changed_array(rng: Random, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of other entries or another shape; sums of rows of integers are mostly kept."""
    found = np.array(array)
    if not found.size:
        return found
    kind = rng.randrange(8)
    if found.dtype.kind in "iu" and found.ndim == 2 and found.shape[1] > 1 and kind < 4:
        row, here, there = rng.randrange(len(found)), rng.randrange(found.shape[1]), rng.randrange(found.shape[1])
        whole = int(found[row, here])
        part = rng.choice((1, whole, whole // 2, whole // 1000, rng.randrange(whole + 1)))
        with np.errstate(over="ignore"):
            found[row, here] -= min(part, whole)
            found[row, there] += min(part, whole)
        return found
    if kind == 4:
        shape = rng.choice([(found.size,), (1, found.size), (found.size, 1), found.T.shape])
        return np.ascontiguousarray(found.T if shape == found.T.shape else found.reshape(shape))
    if kind == 5:
        return np.ascontiguousarray(found[:-1] if rng.random() < 0.5 else np.concatenate([found, found[-1:]]))
    if kind == 6:
        rows = list(range(len(found)))
        rng.shuffle(rows)
        return np.ascontiguousarray(found[rows])
    place = np.unravel_index(rng.randrange(found.size), found.shape)
    if found.dtype.kind == "f":
        factor = rng.choice((0.0, -1.0, 0.5, 2.0, 10.0, 1 + 1e-9, 1e300))
        value = float(found[place])
        new = rng.choice((value * factor, value + 1, float("nan"), float("inf"), -0.0, 5e-324))
        found[place] = new
        if found.ndim == 2 and found.shape[0] == found.shape[1] and rng.random() < 0.7:
            found[place[::-1]] = new
    else:
        low, high = np.iinfo(found.dtype).min, np.iinfo(found.dtype).max
        new = int(found[place]) + rng.choice((1, -1, 2**40, -int(found[place]), int(found[place])))
        found[place] = min(max(new, int(low)), int(high))
    return found


def dumped(rng: Random, value: Any) -> bytes:
    """Return a value as the bytes of JSON, now and then changed as such."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.8).encode("utf-8", "surrogatepass")
    if rng.randrange(16) == 0:  # what few readers expect of the numbers and the depth of JSON
        deep = rng.choice((1_000, 5_000, 100_000))
        odd = rng.choice(
            (b"[" * deep + b"]" * deep, b'{"a":' * deep + b"1" + b"}" * deep, b"9" * deep, b"1e" + b"9" * 9)
        )
        place = rng.choice(
            [k for k in range(len(text) + 1) if text[k : k + 1] in (b"1", b"0", b"n", b"t", b'"', b"")]
        )
        text = text[:place] + odd + text[place + 1 :]
    return changed_bytes(rng, text) if rng.randrange(6) == 0 else text


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """Return every (holder, key) in a JSON value, without recursion."""
    found, waiting = [], [value]
    while waiting:
        holder = waiting.pop()
        keys: Any = (
            list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        )
        for key in keys:
            found.append((holder, key))
            waiting.append(holder[key])
    return found
