"""Bytes to text."""

import codecs
import re

from citeloop.errors import UndecodableText

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16-LE
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS = 0.01  # of the characters; text has next to none, compressed data some 10%


def decode_text(data: bytes, uri: str, declared: str | None = None) -> str:
    """The text of ``data``, line endings kept, its byte order mark removed.

    A byte order mark rules, then UTF-8 if it fits, then the encoding that the file itself ``declared``, then the best
    guess of charset-normalizer.

    Raises:
        UndecodableText: binary data, or no encoding fits.
    """
    marked = mark_encoding(data)
    if marked:
        encoding, length = marked
        text = _strictly(data[length:], encoding)
    else:
        text = _by_fit(data, declared)
    if text is None or len(_CONTROL.findall(text)) > _MOST_CONTROLS * len(text):
        raise UndecodableText(f"{uri}: binary, or text in an unknown encoding; save it as UTF-8 text and index again")
    return text


def mark_encoding(head: bytes) -> tuple[str, int] | None:
    """Encoding told by the byte order mark at the start of ``head``, and the mark's length."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding, len(mark)
    return None


def _by_fit(data: bytes, declared: str | None) -> str | None:
    text = _strictly(data, "utf-8")
    if text is not None and "\0" not in text:  # UTF-16 without a mark is valid UTF-8 too, full of zeros
        return text
    return (_strictly(data, declared) if declared else None) or _by_guess(data)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (LookupError, ValueError):  # an unknown or non-text codec; bytes that do not fit
        return None


def _by_guess(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    return None if best is None else str(best)
