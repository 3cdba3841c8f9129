# SPDX-License-Identifier: BSD-3-Clause
"""States in which a power loss may leave the disk, made from the record of all that was asked of it.

What a file was at its last fsync is there. Of what came later each sector of 512 bytes may be there
or not. Names are there when their folder was fsynced; of later ones some may be there, in an order
that keeps each name's own. (tests/actor/recorder.h writes the record.)
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from actors import Entry

SECTOR = 512
PROCESS = 1 << 32  # what numbers of writes have in their upper half
NO_REPLACE = 1  # flags of renameat2
EXCHANGE = 2


@dataclass
class Change:
    """A change of a file since its last fsync."""

    offset: int
    bytes: bytes | None  # None: a new size
    grows: bool = False
    is_done: bool = True
    process: int = 0
    is_lost: bool = False  # an fsync has failed: later ones do not make it durable

    def meets(self, other: Change) -> bool:
        """Return True if both write some bytes."""
        if self.bytes is None or other.bytes is None:
            return False
        return (
            self.offset < other.offset + len(other.bytes)
            and other.offset < self.offset + len(self.bytes)
        )


def _put(content: bytearray, offset: int, more: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(more)] = more


def _resize(content: bytearray, change: Change) -> None:
    if change.offset > len(content):
        content.extend(bytes(change.offset - len(content)))
    elif not change.grows:
        del content[change.offset :]


def _apply(content: bytearray, change: Change) -> None:
    if change.bytes is None:
        _resize(content, change)
    else:
        _put(content, change.offset, change.bytes)


@dataclass
class File:
    """The durable bytes of a file, and the changes that came later."""

    durable: bytearray = field(default_factory=bytearray)
    later: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        kept: list[Change] = []
        for change in self.later:
            if change.is_done and not change.is_lost:
                _apply(self.durable, change)
                kept = [older for older in kept if not older.meets(change)]
            else:
                kept.append(change)
            if change.is_lost and change.bytes is not None:  # the size is no page that was lost
                _put(self.durable, change.offset + len(change.bytes), b"")
        self.later = kept

    def whole(self) -> bytes:
        content = bytearray(self.durable)
        for change in self.later:
            _apply(content, change)
        return bytes(content)

    def after_power_loss(self, dice: random.Random, chance: float) -> bytes:
        """`chance`: that what came later is there."""
        content = bytearray(self.durable)
        torn = dice.random() < 0.5
        for change in self.later:
            if change.bytes is None or not torn:
                if dice.random() < chance:
                    _apply(content, change)
                continue
            at = 0
            while at < len(change.bytes):  # runs of sectors, so that long writes take no longer
                first = (change.offset + at) // SECTOR
                run = dice.choice([1, 1, 2, 8, 64, 1024])
                end = min((first + run) * SECTOR - change.offset, len(change.bytes))
                if dice.random() < chance:
                    _put(content, change.offset + at, change.bytes[at:end])
                at = end
        return bytes(content)


@dataclass(frozen=True)
class Naming:
    """A change of the names in a folder."""

    names: tuple[str, ...]
    entries: dict[str, File | Folder | None]  # that are there afterwards


@dataclass
class Folder:
    """The names in a folder: those that are durable, and what came later."""

    durable: dict[str, File | Folder] = field(default_factory=dict)
    later: list[Naming] = field(default_factory=list)
    now: dict[str, File | Folder] = field(default_factory=dict)

    def name(self, entries: dict[str, File | Folder | None]) -> None:
        self.later.append(Naming(tuple(entries), entries))
        _name(self.now, entries)

    def sync(self) -> None:
        for naming in self.later:
            _name(self.durable, naming.entries)
        self.later = []

    def after_power_loss(self, dice: random.Random) -> dict[str, File | Folder]:
        entries = dict(self.durable)
        if dice.random() < 0.6:
            for naming in self.later[: dice.randint(0, len(self.later))]:
                _name(entries, naming.entries)
            return entries
        left_out: set[str] = set()
        for naming in self.later:
            if left_out.isdisjoint(naming.names) and dice.random() < 0.6:
                _name(entries, naming.entries)
            else:
                left_out.update(naming.names)
        return entries


def _name(names: dict[str, File | Folder], entries: dict[str, File | Folder | None]) -> None:
    for name, entry in entries.items():
        if entry is None:
            names.pop(name, None)
        else:
            names[name] = entry


class Disk:
    """The state of a folder by a record, up to some point in it."""

    def __init__(self, folder: Path) -> None:
        """Take what is there as durable."""
        self._path = str(folder)
        self._inodes: dict[int, File | Folder] = {}
        self._writes: dict[int, Change] = {}
        self.root = self._take(folder)

    def _take(self, path: Path) -> Folder:
        folder = Folder()
        for entry in os.scandir(path):
            made: File | Folder
            if entry.is_dir(follow_symlinks=False):
                made = self._take(Path(entry.path))
            else:
                made = File(bytearray(Path(entry.path).read_bytes()))
                self._inodes[entry.inode()] = made
            folder.durable[entry.name] = made
        folder.now = dict(folder.durable)
        self._inodes[path.stat().st_ino] = folder
        return folder

    def _place(self, path: str) -> tuple[Folder, str]:
        words = os.path.relpath(path, self._path).split("/")
        folder = self.root
        for word in words[:-1]:
            inner = folder.now[word]
            assert isinstance(inner, Folder)
            folder = inner
        return folder, words[-1]

    def take(self, record: Record) -> None:
        """Let what was recorded happen."""
        getattr(self, f"_{record.word}")(record)

    def _told(self, _: Record) -> None:
        pass

    def _new(self, record: Record, made: File | Folder) -> None:
        self._inodes[record.numbers[0]] = made
        folder, name = self._place(record.paths[0])
        folder.name({name: made})

    def _create(self, record: Record) -> None:
        self._new(record, File())

    def _folder(self, record: Record) -> None:
        self._new(record, Folder())

    def _file(self, record: Record) -> File:
        file = self._inodes[record.numbers[0]]
        assert isinstance(file, File)
        return file

    def _write(self, record: Record) -> None:
        _, offset, number = record.numbers
        ends_later = number % PROCESS != 0
        change = Change(offset, record.bytes, is_done=not ends_later, process=number // PROCESS)
        self._file(record).later.append(change)
        if ends_later:
            self._writes[number] = change

    def _done(self, record: Record) -> None:
        change = self._writes.pop(record.numbers[0])
        assert change.bytes is not None
        change.bytes = change.bytes[: record.numbers[1]]
        change.is_done = True

    def _truncate(self, record: Record) -> None:
        self._file(record).later.append(Change(record.numbers[1], None))

    def _grow(self, record: Record) -> None:
        self._file(record).later.append(Change(record.numbers[1], None, grows=True))

    def _sync(self, record: Record) -> None:
        self._inodes[record.numbers[0]].sync()

    def _lost(self, record: Record) -> None:
        file = self._inodes[record.numbers[0]]
        for change in file.later if isinstance(file, File) else []:
            change.is_lost |= change.process == record.numbers[1] // PROCESS

    def _rename(self, record: Record) -> None:
        (before, old), (after, new) = (self._place(path) for path in record.paths)
        moved = before.now[old]
        other = after.now.get(new) if record.numbers[0] & EXCHANGE else None
        if before is after:
            before.name({old: other, new: moved})
        else:
            after.name({new: moved})
            before.name({old: other})

    def _link(self, record: Record) -> None:
        (before, old), (after, new) = (self._place(path) for path in record.paths)
        after.name({new: before.now[old]})

    def _unlink(self, record: Record) -> None:
        folder, name = self._place(record.paths[0])
        folder.name({name: None})

    def lay_out(self, into: Path, dice: random.Random) -> None:
        """Write a state that a power loss may leave now."""
        chance = dice.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        _lay_out(self.root, into, dice, chance)

    def differences(self, folder: Path) -> list[str]:
        """Return what is not as recorded: of a record that has everything, nothing."""
        return list(_differences(self.root, folder))


def _lay_out(folder: Folder, into: Path, dice: random.Random, chance: float) -> None:
    into.mkdir(parents=True)
    for name, entry in folder.after_power_loss(dice).items():
        if isinstance(entry, Folder):
            _lay_out(entry, into / name, dice, chance)
        else:
            (into / name).write_bytes(entry.after_power_loss(dice, chance))


def _differences(folder: Folder, path: Path) -> Iterator[str]:
    there = {entry.name for entry in path.iterdir()}
    for name in there ^ set(folder.now):
        yield f"{path / name} is {'not recorded' if name in there else 'gone'}"
    for name in there & set(folder.now):
        entry = folder.now[name]
        if isinstance(entry, Folder):
            yield from _differences(entry, path / name)
        elif (path / name).read_bytes() != entry.whole():
            yield f"{path / name} has other bytes"


@dataclass(frozen=True)
class Record:
    """One line of the log, with the bytes behind it."""

    word: str
    numbers: tuple[int, int, int]
    bytes: bytes

    @property
    def paths(self) -> list[str]:
        return self.bytes.decode().split("\0")

    @property
    def entry(self) -> Entry:
        return dict(json.loads(self.bytes))


def read_log(path: Path) -> list[Record]:
    """Return the records in order."""
    raw = path.read_bytes()
    records = []
    at = 0
    while at < len(raw):
        end = raw.index(b"\n", at)
        word, *numbers = raw[at:end].decode().split()
        a, b, c, size = map(int, numbers)
        records.append(Record(word, (a, b, c), raw[end + 1 : end + 1 + size]))
        at = end + 1 + size
    return records
