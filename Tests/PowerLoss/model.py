"""Models the durable data at each time of a recording, the data that may or may not survive, and the resulting states."""
import hashlib, itertools, random
from dataclasses import dataclass, replace

from recording import DATABASE

FIRST_TRANSFERS = 20  # OutageWork.transferCount
GARBAGE = 0.1  # the share of torn files whose unwritten blocks contain garbage
MOST_NAMES = 6  # the maximum number of name changes for which every combination is tried


def applied(content, event):
    if event.kind == "cut": return content[:event.size].ljust(event.size, b"\0")
    content = content.ljust(event.offset, b"\0")
    return content[:event.offset] + event.data + content[event.offset + len(event.data):]


def take(names, changes):
    for name, file in changes:
        if file is None: names.pop(name, None)
        else: names[name] = file


@dataclass(frozen=True)
class File:
    durable: bytes  # the content at the last sync
    now: bytes
    pending: tuple = ()  # the numbered events since the last sync
    promised: int = 0  # for a log: the last transfer that it certainly contains

    def after(self, number, event): return replace(self, now=applied(self.now, event), pending=self.pending + ((number, event),))

    def synchronised(self, begin, promised):
        durable = self.durable
        for number, event in self.pending:
            if number < begin: durable = applied(durable, event)
        return replace(self, durable=durable, pending=tuple(pair for pair in self.pending if pair[0] >= begin), promised=promised)

    def torn(self, source):
        """Returns a random content that the file can have after a power failure, and its description."""
        block, has_garbage, share = source.choice((512, 4096)), source.random() < GARBAGE, source.choice((0.1, 0.5, 0.9))
        survived = source.randint(0, len(self.pending))  # The size after this many of the changes.
        now, size, versions = self.durable, len(self.durable), {}
        for index, (_, event) in enumerate(self.pending):
            length, now = len(now), applied(now, event)
            if index < survived: size = len(now)
            if event.kind == "write": touched = range(event.offset // block, (event.offset + len(event.data) - 1) // block + 1)
            else: touched = range(event.size // block, length // block + 1)
            for number in touched:
                content = now[number * block:(number + 1) * block]
                if event.kind == "write": versions.setdefault(number, [self.durable[number * block:(number + 1) * block]]).append(content)
                # Truncated data never comes back if the size after it has survived.
                elif index < survived: versions[number] = [content]
        result, old = bytearray(self.durable[:size].ljust(size, b"\0")), 0
        for number, choices in sorted(versions.items()):
            room = min(block, size - number * block)
            if room <= 0: continue
            content = choices[-1] if source.random() < share else source.choice(choices)
            old += content != choices[-1]
            filler = source.randbytes(room) if has_garbage else bytes(room)
            result[number * block:number * block + room] = content[:room] + filler[len(content[:room]):]
        garbage = ", with garbage" if has_garbage else ""
        return bytes(result), f"size {size} of {len(self.now)}, {old} of {len(versions)} blocks of {block} not in their last version{garbage}"


@dataclass
class State:
    """The content of the folder after a power failure, and the conditions that must hold."""
    names: dict  # maps names to the numbers of files; two names of one file are hard links
    contents: dict  # maps the numbers of files to their content
    lost: list  # descriptions
    least: int
    most: int
    is_done: bool

    def digest(self):
        digest = hashlib.sha256(f"{self.least} {self.most} {self.is_done}".encode())
        for name, number in sorted(self.names.items()):
            if not name.endswith("-shm"): digest.update(f"{name} {number} {len(self.contents[number])} ".encode() + self.contents[number])
        return digest.digest()


class Model:
    """The data that is durable, and the data that may survive, after the first events of a recording."""

    def __init__(self, recording):
        self.names = {name: number for number, name in enumerate(recording.start)}
        self.files = {number: File(content, content) for number, content in enumerate(recording.start.values())}
        self.durable_names, self.pending_names = self.names, ()
        self.acknowledged, self.floor, self.is_done = (), FIRST_TRANSFERS, False
        self.last_words, self.next_kind = "the start", ""

    def after(self, number, event):
        new = object.__new__(Model)
        new.__dict__.update(self.__dict__, files=dict(self.files), names=dict(self.names), last_words=event.words, next_kind="")
        if event.kind in ("write", "cut", "sync"): file = self.files.get(event.file, File(b"", b""))  # A file without a name has no event before, and its syncs are void.
        if event.kind in ("write", "cut"): new.files[event.file] = file.after(number, event)
        elif event.kind == "sync" and event.file in self.names.values(): new.files[event.file] = file.synchronised(event.begin, self.last_transfer(event.begin))
        elif event.kind == "said":
            if event.data.strip().isdigit(): new.acknowledged = self.acknowledged + ((number, int(event.data)),)
            if event.data == b"changed\n": new.is_done, new.floor = True, self.last_transfer()
        elif event.kind == "names":
            take(new.names, event.changes)
            for _, file in event.changes:
                if file is not None: new.files.setdefault(file, File(b"", b""))
            new.pending_names = self.pending_names + ((number, event),)
        elif event.kind == "syncFolder":
            new.durable_names = dict(self.durable_names)
            for other, change in self.pending_names:
                if other < event.begin: take(new.durable_names, change.changes)
            new.pending_names = tuple(pair for pair in self.pending_names if pair[0] >= event.begin)
        # The guarantee of a log holds once its name is durable too.
        log = new.durable_names.get(DATABASE + "-wal")
        if log is not None: new.floor = max(self.floor, new.files[log].promised)
        return new

    def last_transfer(self, before=float("inf")):
        return next((transfer for number, transfer in reversed(self.acknowledged) if number < before), FIRST_TRANSFERS)

    def contents(self): return {name: self.files[number].now for name, number in self.names.items()}

    def surviving_names(self, how, source):
        """Returns the surviving names, and descriptions of the lost changes. `how` is ordered, any, halves, or a tuple of Booleans, one for each change."""
        changes = []  # (description, changes, names of which it needs the changes before)
        for _, event in self.pending_names:
            parts = [event.changes] if how != "halves" or event.atomic else [(change,) for change in event.changes]
            for index, part in enumerate(parts):
                # In a rename, the old name is removed after the new one has been added.
                needed = {name for name, _ in itertools.chain(*parts[:index + 1])}
                changes.append((event.words + (f" ({part[0][0]})" if len(parts) > 1 else ""), part, needed))
        first = source.randint(0, len(changes))
        if isinstance(how, tuple): kept = how
        else: kept = [index < first if how == "ordered" else source.random() < 0.5 for index in range(len(changes))]
        names, missing, lost = dict(self.durable_names), set(), []
        for (words, change, needed), survives in zip(changes, kept):
            if survives and not needed & missing: take(names, change)
            else:
                missing |= {name for name, _ in change}
                lost.append(words)
        return names, lost

    def state(self, work, how, data, source):
        """Returns a state. `data` is kept, lost, or random; for `how` see `surviving_names`."""
        names, lost = self.surviving_names(how, source)
        contents = {}
        for name, number in sorted(names.items()):
            if number in contents: continue
            file = self.files[number]
            way = source.choice(("kept", "lost", "torn", "torn")) if data == "random" else data
            if name.endswith("-shm"):
                if source.random() < 0.5: del names[name]
                contents[number] = source.randbytes(32768)
                continue
            words = f"only the {len(file.durable)} bytes that were synchronised"
            if way == "kept" or not file.pending: contents[number] = file.now
            elif way == "lost": contents[number] = file.durable
            else: contents[number], words = file.torn(source)
            if contents[number] != file.now: lost.append(f"{name}: {words}")
        last = self.last_transfer()
        return State(names, contents, lost, self.promised(work, names, last), last + 1, self.is_done)

    def promised(self, work, names, last):
        """Returns the last transfer that must survive: see `Tests/power-loss`."""
        if work.endswith("-wal"): return self.floor
        if work.endswith("-extra"): return last
        journal = names.get(DATABASE + "-journal")
        is_journal_back = journal is not None and journal != self.names.get(DATABASE + "-journal")
        return max(last - 1, self.floor) if is_journal_back else last


def moments(recording):
    """Returns the model before the first event, and after each event."""
    models = [Model(recording)]
    for number, event in enumerate(recording.events):
        models[-1].next_kind = event.kind
        models.append(models[-1].after(number, event))
    return models


def plan(work, models, seed):
    """Yields an endless plan: (the index of the model, names, data), as for `Model.state`. The most valuable states come first."""
    source = random.Random(f"{seed} {work}")

    def all_names(index, survive): return (survive,) * len(models[index].pending_names)

    # Every combination of names at the times with the most choices: before the names are synced, and at the
    # end.
    choices = [(index, kept) for index, model in enumerate(models) if model.next_kind in ("syncFolder", "") and len(model.pending_names) <= MOST_NAMES
               for kept in itertools.product((True, False), repeat=len(model.pending_names))]
    source.shuffle(choices)
    # Each time, starting with those at which more can be lost than in the middle of a growing file: a kill,
    # and the minimum that may survive.
    ranks = {"cut": 0, "write": 2, "": 2}
    order = sorted(range(len(models)), key=lambda index: (ranks.get(models[index].next_kind, 1), source.random()))
    ends = [(index, all_names(index, True), "kept") for index in order] + [(index, all_names(index, False), "lost") for index in order]

    def anything():
        weights = [min(10, 3 * len(model.pending_names) + sum(len(file.pending) for file in model.files.values())) for model in models]
        ways = {("any", "random"): 4, ("ordered", "random"): 4, ("halves", "random"): 4, ("any", "kept"): 1, ("ordered", "lost"): 1}
        while True: yield source.choices(range(len(models)), weights)[0], *source.choices(list(ways), list(ways.values()))[0]

    of_names = iter([(index, kept, "kept") for index, kept in choices] + [(index, kept, "lost") for index, kept in choices])
    for turn in itertools.cycle((of_names, iter(ends), of_names, anything())): yield from itertools.islice(turn, 1)


def states(work, models, seed, count):
    """Yields this number of distinct states, or as many as are found: (number, model, state)."""
    seen = set()
    for number, (index, how, data) in enumerate(plan(work, models, seed)):
        if len(seen) >= count or number > 200 * count: return
        state = models[index].state(work, how, data, random.Random(f"{seed} {work} {number}"))
        if state.digest() not in seen:
            seen.add(state.digest())
            yield number, models[index], state
