"""Usernames that look alike are the same username (docs/decisions/0006).

Unicode's confusables (UTS #39) map each character to one that looks the same, its prototype. The
skeleton of a name is what is left when all its characters are replaced by their prototypes.
"""

import json
import unicodedata
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import ascii_uppercase

MAX_KEY_CHARACTERS = 255
INVISIBLE = dict.fromkeys((0x115F, 0x1160))  # letters to Python: Hangul's fillers
LEFT_TO_RIGHT = "\u200e"  # the data has it around characters that are written from right to left
SMALL_I = {ord("i"): "l"}  # the capital I and the small l look alike
ASCII = str.maketrans(
    dict(zip(ascii_uppercase, ascii_uppercase.lower(), strict=True))
    | {"0": "o", "1": "l", "i": "l", "I": "l", "m": "rn", "M": "rn"}
)
"""What ``username_key`` does with the characters of most names, at once."""


def username_key(username: str) -> str:
    """Return what all usernames have in common that look like this one, in any case."""
    if username.isascii():
        key = username.translate(ASCII)
    else:
        folded = unicodedata.normalize("NFKC", username).casefold()
        key = _folded_skeleton(_skeleton(folded))
    return key if len(key) <= MAX_KEY_CHARACTERS else sha256(key.encode()).hexdigest()


def is_plain(username: str) -> bool:
    """Return whether a name doesn't pretend to be an ASCII name with the help of capital letters.

    The Cyrillic letters Ve, O, Ve look like BOB as capitals, and not like bob as small letters.
    """
    if username.isascii():
        return True
    as_written = _folded_skeleton(_skeleton(unicodedata.normalize("NFKC", username)))
    return not as_written.isascii() or as_written == username_key(username)


def _folded_skeleton(text: str) -> str:
    return _skeleton(text.casefold()).casefold().translate(SMALL_I)


def _skeleton(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text).translate(INVISIBLE)
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes()))


@cache
def _prototypes() -> dict[int, str]:
    """Return the prototype of each code point that has one.

    The data names with each text the texts that look like it: with a prototype all others of its
    class, with each of those only the prototype.
    """
    path = files("confusable_homoglyphs") / "confusables.json"
    classes = {
        text.strip(LEFT_TO_RIGHT): [other["c"].strip(LEFT_TO_RIGHT) for other in alike]
        for text, alike in json.loads(path.read_text(encoding="utf-8")).items()
    }
    prototypes = {}
    for text, alike in classes.items():
        if len(text) == len(alike) == 1:
            (other,) = alike
            # Of two texts that look like nothing else, either may stand for both.
            if len(classes[other]) > 1 or len(other) > 1 or other < text:
                prototypes[ord(text)] = other
    return prototypes
