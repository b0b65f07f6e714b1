"""Reads the changes that a process made to the files of one folder from an strace log, in the order of the calls."""
import os, re, shutil, subprocess, sys
from dataclasses import dataclass
from pathlib import Path

DATABASE = "bank.db"
CALLS = """open openat openat2 creat close dup dup2 dup3 lseek write pwrite64 writev pwritev pwritev2 truncate ftruncate fallocate fsync fdatasync
    sync syncfs rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat mkdir mkdirat rmdir mmap copy_file_range sendfile splice"""
STRING = r"(?:\\x[0-9a-f]{2})*"


def end(words):
    print(f"power-loss: {words}", file=sys.stderr)
    sys.exit(1)


def identity(path):
    """Returns the identity of a file as a note has it."""
    status = os.stat(path)
    return f'"device" : {status.st_dev},\n    "inode" : {status.st_ino}\n'.encode()


def unescape(text): return bytes.fromhex(text.replace("\\x", ""))


@dataclass(frozen=True)
class Event:
    """The effect of a call on the folder, or on standard output."""
    kind: str  # write, cut, sync (of a file), names, syncFolder, said
    words: str
    file: int = 0
    offset: int = 0
    data: bytes = b""
    size: int = 0
    changes: tuple = ()  # of names: (name, file or None if the name is removed); in a rename, the new name comes first
    atomic: bool = False  # the changes cannot survive in part
    begin: int = 0  # of a sync: the number of the first event that it may not include


@dataclass(frozen=True)
class Call:
    name: str
    arguments: list  # in strace's notation
    strings: list  # the string arguments, as bytes
    result: int
    descriptor: int | None  # the first argument, if it is a descriptor
    file: object  # the descriptor's file: a number, "folder", or None if it is elsewhere
    begin: int
    text: str


class Recording:
    """The initial files of the folder, and the events of a trace. Files are identified by numbers, because names change."""

    def __init__(self, folder):
        self.path = (folder / "path").read_bytes()
        self.identity = (folder / "identity").read_bytes()
        self.start = {path.name: path.read_bytes() for path in sorted((folder / "start").iterdir())}
        self.events, self.descriptors, self.positions = [], {}, {}
        self.names = {name: number for number, name in enumerate(self.start)}
        self.count, self.database = len(self.names), self.names[DATABASE]
        self.read(folder / "trace")

    def read(self, trace):
        begun = {}
        for line in trace.read_text("latin-1").splitlines():
            thread, text = line.split(None, 1)
            begin = len(self.events)
            if text.startswith(("+++", "---")): continue
            if text.endswith("<unfinished ...>"):
                begun[thread] = (text.removesuffix("<unfinished ...>").rstrip(" "), begin)
                continue
            if resumed := re.match(r"<\.\.\. \w+ resumed>", text):
                start, begin = begun.pop(thread)
                text = start + text[resumed.end():]
            match = re.match(r"(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)", text)
            if not match or '"...' in text: end(f"a line of the trace is not understood: {text[:200]}")
            if match[3] != "?" and not match[3].startswith("-"): self.add(text, match[1], match[2], int(match[3], 0), begin)

    def add(self, text, name, arguments, result, begin):
        descriptor = re.match(r"(\d+)(?:<|,|$)", arguments)
        descriptor = int(descriptor[1]) if descriptor else None
        strings = [unescape(string) for string in re.findall(f'"({STRING})"', arguments)]
        call = Call(name, arguments.split(", "), strings, result, descriptor, self.descriptors.get(descriptor), begin, text)
        handler = getattr(self, "on_" + name, None)
        if handler: handler(call)
        elif call.file is not None or any(unescape(path).startswith(self.path) for path in re.findall(STRING, text)): self.refuse(call)

    def refuse(self, call): end(f"this is not modelled: {call.text[:200]}")

    def emit(self, kind, words, **fields): self.events.append(Event(kind, words, **fields))

    def change(self, words, *changes, atomic=False):
        for name, file in changes:
            if file is None: self.names.pop(name, None)
            else: self.names[name] = file
        self.emit("names", words, changes=changes, atomic=atomic)

    def name_of(self, file): return next((name for name, other in self.names.items() if other == file), "a file without a name")

    def local(self, call, index, directory=None):
        """Returns the name of a path in the folder, "" for the folder itself, otherwise None. The path may be relative to an argument."""
        base = re.search(f"<({STRING})>", call.arguments[directory]) if directory is not None else None
        path = os.path.normpath(os.path.join(unescape(base[1]) if base else b"/", call.strings[index]))
        if path == self.path: return ""
        if not path.startswith(self.path + b"/"): return None
        name = os.fsdecode(path[len(self.path) + 1:])
        return name if "/" not in name else self.refuse(call)

    def opened(self, call, name, flags):
        self.descriptors.pop(call.result, None)
        if name is None: return
        if "O_APPEND" in flags: self.refuse(call)
        if "O_TMPFILE" in flags:
            self.descriptors[call.result], self.positions[call.result] = self.count, 0
            self.count += 1
            return
        if name == "":
            self.descriptors[call.result] = "folder"
            return
        if name not in self.names:
            self.change(f"create {name}", (name, self.count))
            self.count += 1
        elif "O_TRUNC" in flags: self.emit("cut", f"cut {name} to 0", file=self.names[name])
        self.descriptors[call.result] = self.names[name]
        self.positions[call.result] = 0

    def on_open(self, call): self.opened(call, self.local(call, 0), call.arguments[1].split("|"))

    def on_openat(self, call): self.opened(call, self.local(call, 0, 0), call.arguments[2].split("|"))

    def on_close(self, call): self.descriptors.pop(call.descriptor, None)

    def on_lseek(self, call): self.positions[call.descriptor] = call.result

    def on_write(self, call):
        if call.descriptor == 1: self.emit("said", f"print {call.strings[0].decode().strip()}", data=call.strings[0])
        elif call.file is not None:
            self.wrote(call, self.positions[call.descriptor])
            self.positions[call.descriptor] += call.result

    def on_pwrite64(self, call):
        if call.file is not None: self.wrote(call, int(call.arguments[-1]))

    on_pwritev = on_pwrite64

    def wrote(self, call, offset):
        data = b"".join(call.strings)[:call.result]
        self.emit("write", f"write {len(data)} bytes at {offset} of {self.name_of(call.file)}", file=call.file, offset=offset, data=data)

    def on_ftruncate(self, call):
        if call.file is None: return
        size = int(call.arguments[1])
        self.emit("cut", f"cut {self.name_of(call.file)} to {size}", file=call.file, size=size)

    def on_fsync(self, call):
        if call.file == "folder": self.emit("syncFolder", "synchronise the folder", begin=call.begin)
        elif call.file is not None: self.emit("sync", f"synchronise {self.name_of(call.file)}", file=call.file, begin=call.begin)

    on_fdatasync = on_fsync

    def on_sync_file_range(self, call): pass

    def removed(self, name):
        if name is not None: self.change(f"remove {name}", (name, None))

    def on_unlink(self, call): self.removed(self.local(call, 0))

    def on_unlinkat(self, call): self.removed(self.local(call, 0, 0))

    def renamed(self, call, old, new):
        if old is None and new is None: return
        if not old or not new: self.refuse(call)
        if "RENAME_EXCHANGE" in call.arguments[-1]:
            self.change(f"exchange {old} and {new}", (old, self.names[new]), (new, self.names[old]), atomic=True)
        else: self.change(f"rename {old} to {new}", (new, self.names[old]), (old, None))

    def on_rename(self, call): self.renamed(call, self.local(call, 0), self.local(call, 1))

    def on_renameat(self, call): self.renamed(call, self.local(call, 0, 0), self.local(call, 1, 2))

    on_renameat2 = on_renameat

    def linked(self, call, old, new):
        if old is None and new is None: return
        if not old or not new: self.refuse(call)
        self.change(f"link {old} as {new}", (new, self.names[old]))

    def on_link(self, call): self.linked(call, self.local(call, 0), self.local(call, 1))

    def on_linkat(self, call):
        own, new = re.fullmatch(rb"/proc/self/fd/(\d+)", call.strings[0]), self.local(call, 1, 2)
        if not own: self.linked(call, self.local(call, 0, 0), new)
        elif new: self.change(f"link a file without a name as {new}", (new, self.descriptors[int(own[1])]))

    def on_mmap(self, call):
        mapped = re.match(r"\d+", call.arguments[4])
        file = self.descriptors.get(int(mapped[0])) if mapped else None
        if file is None or "PROT_WRITE" not in call.arguments[2] or "MAP_SHARED" not in call.arguments[3]: return
        if not self.name_of(file).endswith("-shm"): self.refuse(call)

    def check_end(self, folder, contents):
        """Exits if a call was not understood or not traced: the contents derived from the trace must be the same as in the folder."""
        said = b"".join(event.data for event in self.events if event.kind == "said")
        if not said or said != (folder / "said").read_bytes(): end(f"{folder.name}: the trace does not hold what was printed")
        real = {path.name: path.read_bytes() for path in (folder / "end").iterdir()}
        if real != contents: end(f"{folder.name}: the trace does not hold what the folder holds: {sorted(real)}, {sorted(contents)}")


def record(worker, folder, work):
    """Records an operation in a folder: `start` and `end` with the files, `trace`, `said`, `path`, its original location, and `identity`, that of
    the database."""
    kind, mode = work.split("-")
    real = folder / "end"
    real.mkdir(parents=True)
    subprocess.run([worker, "outage", "make", kind, mode, real / DATABASE], check=True)
    shutil.copytree(real, folder / "start")
    (folder / "identity").write_bytes(identity(real / DATABASE))
    calls = ",".join("?" + call for call in CALLS.split())
    done = subprocess.run(
        ["strace", "-f", "-y", "-xx", "-s", "16777216", "-o", folder / "trace", "-e", f"trace={calls}",
         worker, "outage", "run", kind, mode, real / DATABASE], capture_output=True)
    if done.returncode: end(f"{work} failed without any fault: {done.stdout}{done.stderr}")
    (folder / "said").write_bytes(done.stdout)
    (folder / "path").write_bytes(os.fsencode(os.path.realpath(real)))
