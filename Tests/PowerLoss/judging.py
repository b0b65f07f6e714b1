"""Judges states, with a worker of Coffer and with the stock shell."""
import os, re, shutil, subprocess, tempfile
from pathlib import Path

from recording import DATABASE, identity

FORMS = {"rotate": ("66", "23"), "rotateInPlace": ("66", "23"), "encrypt": ("plain", "66"), "decrypt": ("66", "plain"),
         "upgrade": ("66@3", "66"), "vacuum": ("66",), "commit": ("66",), "live": ("66", "23"), "liveInUse": ("66", "23"), "restore": ("66", "23")}


def store(state, folder, recording):
    """Writes the files of a state. Notes contain paths, and the identity of the database, which differ from the recorded ones."""
    made = {}
    for name, number in state.names.items():
        path = folder / name
        if number in made: os.link(made[number], path)
        else:
            path.write_bytes(state.contents[number])
            path.chmod(0o600)
            made[number] = path
    for path in (path for path in made.values() if path.name.startswith(".coffer-")):
        note = path.read_bytes().replace(recording.path + b"/", os.fsencode(os.path.realpath(folder)) + b"/")
        if recording.database in made: note = note.replace(recording.identity, identity(made[recording.database]))
        path.write_bytes(note)


class Judge:
    """A worker that judges one state after the other."""

    def __init__(self, worker, work, folder, recording=None):
        """Without a recording, only existing folders are judged, with `ask`."""
        self.command, self.work, self.folder, self.process = [worker, "outage", "judge", *work.split("-")], work, folder, None
        self.recording = recording

    def close(self):
        if self.process: self.process.communicate()

    def judge(self, state, with_shell):
        """Returns an answer that starts with `good` or `lost`."""
        folder = Path(tempfile.mkdtemp(prefix="state-", dir=self.folder))
        try:
            store(state, folder, self.recording)
            seen = shell(self.work, folder) if with_shell else None
            answer = self.ask(folder / DATABASE, state)
            if not answer.startswith("good") or seen is None or seen == [answer.split()[1:]]: return answer
            return f"lost the stock shell says {seen}, and the judge: {answer}"
        finally:
            for path in (folder, f"{folder}-used", f"{folder}-shell"): shutil.rmtree(path, ignore_errors=True)

    def ask(self, path, state):
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(f"{path} {state.least} {state.most} {int(state.is_done)}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError: answer = ""
        if answer: return answer
        errors, self.process = self.process.stderr.read(), None
        return f"lost the judge ended: {errors[:2000]}"


def shell(work, folder):
    """Returns the forms in which the stock shell finds an intact file, each with the number of transfers. Each uses a copy, because the shell may replay a journal."""
    found = []
    for form in FORMS[work.split("-")[0]]:
        copy = f"{folder}-shell"
        shutil.copytree(folder, copy)
        key, _, format = form.partition("@")
        sql = "" if form == "plain" else f"""PRAGMA key = "x'{f'{int(key):02x}' * 32}'";"""
        sql += f"PRAGMA cipher_compatibility = {format};" if format else ""
        sql += "PRAGMA integrity_check; SELECT COUNT(*) || ' of ' || MAX(number) FROM transfer; SELECT SUM(balance) FROM account;"
        done = subprocess.run(["sqlcipher", "-batch", "-bail", f"{copy}/{DATABASE}", sql], capture_output=True, text=True)
        shutil.rmtree(copy)
        match = re.search(r"^ok\n(\d+) of \1\n20000\n\Z", done.stdout, re.MULTILINE)
        if done.returncode == 0 and match: found.append([form, match[1]])
    return found
