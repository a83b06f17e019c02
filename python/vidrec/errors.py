"""What goes wrong, and where.

Every error of vidrec is an :class:`Error`. Its subclasses say who is to blame.
"""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """An error that knows its place.

    Parameters
    ----------
    message : str
        What is wrong, where, and what to do about it.
    file, offset, clip, frame, rule
        See the attributes.

    Attributes
    ----------
    file : str or None
        The file at fault.
    offset : int or None
        Byte offset in that file.
    clip : int or None
        Ordinal of the clip, counted from 0 in the data set (or shard) that was asked.
    frame : int or None
        Ordinal of the frame, counted from 0 in its clip.
    rule : str or None
        Identifier of the broken rule of the format, as the specification lists them.

    Examples
    --------
    >>> import vidrec
    >>> try:
    ...     vidrec.open("no/such/set")
    ... except vidrec.Error as e:
    ...     print(type(e).__name__, e.file)
    FileError no/such/set
    """

    def __init__(
        self,
        message: str,
        file: Optional[str] = None,
        offset: Optional[int] = None,
        clip: Optional[int] = None,
        frame: Optional[int] = None,
        rule: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.offset = offset
        self.clip = clip
        self.frame = frame
        self.rule = rule

    def __str__(self) -> str:
        # OSError, of which FileError is one too, would print its own fields.
        return str(self.args[0])


class FileError(Error, OSError):
    """The operating system refused: a missing file, no permission, a full disk."""


class FormatError(Error):
    """The bytes of a file break a rule of the format, which :attr:`Error.rule` names."""


class LimitError(Error):
    """Well-formed, but larger than vidrec is willing to handle, or than the machine can."""


class UsageError(Error, ValueError):
    """The arguments make no sense; no file is at fault."""


class DecodeError(Error):
    """A picture or a video could not be decoded or encoded."""


class Interrupted(Error):
    """The work was stopped before its end. Ctrl-C raises :class:`KeyboardInterrupt` instead, as usual."""


class InternalError(Error):
    """A fault of vidrec itself. Please report it."""


class MapError(UsageError):
    """A function given to ``Loader.map`` failed; the message names the batch and its clips, and the cause is its error."""


class PackWarning(UserWarning):
    """What :func:`vidrec.pack` saw in its inputs that you may not have meant; ``notes`` of the report has the same."""


class LoaderWarning(UserWarning):
    """What a loader's batches have that you may not expect."""
