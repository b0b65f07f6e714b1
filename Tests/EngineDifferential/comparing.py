"""Runs a program on both engines, and compares their answers, their content, and the recovered content after each acknowledged commit.

The following differences between versions of SQLite are not faults. They are ignored here, or avoided by the programs:
  - the choice among equal values (1 and 1.0, NOCASE), and the order of rows: see `canonical` and `rows_differ`; no statement depends on them;
  - error messages, the statistics of ANALYZE, and the text of the schema: not compared;
  - the text of floating-point numbers with many digits, and the numbers of such texts: fractions are quarters (expressions.py);
  - LIKE on blobs, a build option (expressions.py), and the affinity of a column in a compound SELECT whose parts have different affinities (schema.py).
"""
import shutil, signal, struct, time
from pathlib import Path

from engines import Died, Runner


class Failure:
    """A difference. As far as possible, a smaller program with the same fault has the same `kind`."""

    def __init__(self, kind, step, words, sql=""): self.kind, self.step, self.words, self.sql = kind, step, words, sql


class TooSlow(Exception): pass


def shorten(value): return value if len(value) <= 60 else f"{value[:24]}… ({len(value)} characters)"


def canonical(value):
    """Normalizes values that an engine may choose from, so that they are equal."""
    if value[0] == "r":
        number = struct.unpack("<d", struct.pack("<Q", int(value[1:], 16)))[0]
        return f"i{int(number)}" if number == number and abs(number) < 2**53 and number == int(number) else value
    return value.lower() if value[0] == "t" else value


def rows_differ(mine, theirs, are_answers):
    """Returns a description of the first difference, or None. The order of rows does not count."""
    if are_answers: mine, theirs = ([[canonical(value) for value in row] for row in rows] for rows in (mine, theirs))
    mine, theirs = sorted(mine), sorted(theirs)
    if mine == theirs: return None
    if len(mine) != len(theirs): return f"{len(mine)} rows instead of {len(theirs)}"
    row, other = next(pair for pair in zip(mine, theirs) if pair[0] != pair[1])
    return f"{[shorten(value) for value in row]} instead of {[shorten(value) for value in other]}"


def statements_of(step):
    """Returns the statements of a step, in the order of the answers."""
    def inner(items):
        for item in items:
            if "savepoint" in item: yield from inner(item["savepoint"])
            else: yield item["sql"]
    if "body" in step: return list(inner(step["body"]))
    return [step.get("sql") or f"{step['kind']} {step.get('name', '')}"]


# Internal tables of an engine.
PRIVATE_TABLES = ("integrity_check", "main.sqlite_schema", "other.sqlite_schema", "main.sqlite_stat1", "main.sqlite_stat4", "other.sqlite_stat1", "other.sqlite_stat4")


def contents_differ(mine, theirs, with_shadows, prefix=""):
    """Returns a description of the first difference of tables whose name starts with `prefix`, or None."""
    def tables(content):
        return {table["name"]: table["answer"] for table in content
                if table["name"].startswith(prefix) and (with_shadows or not (table["isShadow"] or table["name"] in PRIVATE_TABLES))}
    # The second engine always has an attached database.
    if not any(table["name"].startswith("other.") for table in mine): theirs = [table for table in theirs if not table["name"].startswith("other.")]
    mine, theirs = tables(mine), tables(theirs)
    if mine.keys() != theirs.keys(): return f"the tables {sorted(mine)} instead of {sorted(theirs)}"
    for name, answer in mine.items():
        if "rows" not in answer or "rows" not in theirs[name]:
            if "rows" in answer or "rows" in theirs[name]: return f"{name}: {shorten(str(answer))} instead of {shorten(str(theirs[name]))}"
            continue
        words = rows_differ(answer["rows"], theirs[name]["rows"], False)
        if words: return f"table {name}: {words}"
    return None


class Comparison:
    """One run of a program."""

    def __init__(self, program, command, judge, folder, make_other, left_out):
        self.program, self.command, self.judge, self.folder, self.left_out = program, command, judge, Path(folder), left_out
        self.other = make_other(self.program["options"])
        # The content before the first step and after each one, and the number of Coffer's refusals.
        self.contents, self.refusals = [], 0

    def run(self):
        """Returns the first failure, or None."""
        self.path = str(self.folder / "a.db")
        self.runner = Runner(self.command)
        try:
            self.open()
            self.contents = [self.content()]
            for number, step in enumerate(self.program["steps"]):
                try:
                    failure = self.step(number, step)
                except Died as end:
                    if end.code is None: raise TooSlow() from None
                    return Failure("end", number, f"Coffer's process ended with {end.code}")
                if failure and failure.kind not in self.left_out: return failure
            return None
        finally:
            self.runner.end()
            self.other.end()
            for file in self.folder.iterdir(): file.unlink(missing_ok=True)

    def open(self):
        reply = self.runner.ask({"kind": "open", "path": self.path, "options": self.program["options"]})
        if "error" in reply: raise SystemExit(f"engine-differential: the database does not open: {reply['error']['words']}")

    def content(self):
        reply = self.runner.ask({"kind": "content"})
        if "error" in reply: raise SystemExit(f"engine-differential: the content cannot be read: {reply['error']['words']}")
        return reply["content"]

    def step(self, number, step):
        if step["kind"] == "reopen":
            self.runner.ask({"kind": "close"})
            self.open()
            self.contents.append(self.contents[-1])
            return None
        mine = self.runner.ask(step)
        if step["kind"] == "checkpoint":
            self.contents.append(self.contents[-1])
            return Failure("outcome", number, f"the checkpoint failed: {mine['error']['words']}") if "error" in mine else None
        theirs = self.other.ask(step, mine)
        failure = self.compare(number, step, mine, theirs)
        if failure or step["kind"] not in ("write", "raw"):
            self.contents.append(self.contents[-1])
            return failure
        content = self.content()
        self.contents.append(content)
        integrity = next(table["answer"] for table in content if table["name"] == "integrity_check")
        if integrity.get("rows") != [["tok"]]: return Failure("integrity", number, f"integrity_check: {integrity}")
        words = contents_differ(content, self.other.content(), False)
        if words: return Failure("content", number, words)
        return None if "recovery" in self.left_out else self.recover(number, content)

    def compare(self, number, step, mine, theirs):
        for sql, answer, other in zip(statements_of(step), mine["answers"], theirs["answers"]):
            failure, expected = answer.get("error"), other.get("error")
            if failure and failure["isRefusal"]:
                self.refusals += 1
                continue
            if (failure or {}).get("code") != (expected or {}).get("code"):
                return Failure("outcome", number, f"{shorten(sql)}: {failure and failure['words']} instead of {expected and expected['words'] or 'success'}")
            if answer["isInTransaction"] != other["isInTransaction"] and step["kind"] in ("write", "raw"):
                return Failure("outcome", number, f"{shorten(sql)}: {'in' if answer['isInTransaction'] else 'not in'} a transaction")
            if failure: continue
            words = rows_differ(answer["rows"], other["rows"], True)
            if words: return Failure("answer", number, f"{shorten(sql)}: {words}", sql)
        failure, expected = mine.get("error"), theirs.get("error")
        if failure and failure["isRefusal"]: self.refusals += 1
        if (failure or {}).get("code") != (expected or {}).get("code"):
            return Failure("outcome", number, f"the end of the transaction: {failure and failure['words'] or 'success'} instead of {expected and expected['words'] or 'success'}")
        return None

    def recover(self, number, content):
        """Compares the current files with the acknowledged content. They are in the state that a kill of this process would leave."""
        copy = str(self.folder / "copy.db")
        for end in ("", "-wal", "-other", "-other-wal"):
            if Path(self.path + end).exists(): shutil.copyfile(self.path + end, copy + end)
        found = self.judge.ask({"kind": "content", "path": copy, "options": self.program["options"] | {"isQueue": True}})
        for file in self.folder.glob("copy.db*"): file.unlink(missing_ok=True)
        if "error" in found: return Failure("recovery", number, f"after a kill the file does not open: {found['error']['words']}")
        words = contents_differ(found["content"], content, True)
        return words and Failure("recovery", number, f"after a kill: {words}")


class Kill:
    """Another run of a program, which is killed. `contents` comes from a run that was not killed."""

    def __init__(self, comparison): self.comparison, self.steps = comparison, comparison.program["steps"]

    def run(self, prefix=(), after=None, delay=0):
        """Runs all steps without a pause. `prefix` is a command that kills the process at some call. `after` kills it when that many steps are acknowledged and
        the next one has been running for `delay` seconds.
        Returns whether it was killed, and the failure."""
        comparison, folder = self.comparison, self.comparison.folder
        path = str(folder / "killed.db")
        runner = Runner(list(prefix) + comparison.command)
        options = comparison.program["options"]
        opening = {"kind": "open", "path": path, "options": options}
        acknowledged = -1
        try:
            for step in [opening] + self.steps:
                for part in ([{"kind": "close"}, opening] if step["kind"] == "reopen" else [step]):
                    runner.send(part)
                    if after == acknowledged:
                        time.sleep(delay)
                        runner.process.send_signal(signal.SIGKILL)
                    runner.receive()
                acknowledged += 1
            return False, None
        except (Died, BrokenPipeError):
            return True, self.judge(path, max(acknowledged, 0))
        finally:
            runner.end()
            for file in folder.iterdir(): file.unlink(missing_ok=True)

    def judge(self, path, acknowledged):
        """Returns a failure unless the content is the same as after the last acknowledged step, or after the step that was running.
        Each file is compared separately, because SQLite guarantees no more with write-ahead logs."""
        contents = self.comparison.contents
        if not Path(path).exists(): return None
        found = self.comparison.judge.ask({"kind": "content", "path": path, "options": self.comparison.program["options"] | {"isQueue": True}})
        if "error" in found: return Failure("recovery", acknowledged, f"after a kill the file does not open: {found['error']['words']}")
        for prefix in ("main.", "other."):
            words = [contents_differ(found["content"], content, True, prefix) for content in contents[acknowledged:acknowledged + 2]]
            if all(words): return Failure("recovery", acknowledged, f"killed after {acknowledged} steps: {words[0]}")
        integrity = next(table["answer"] for table in found["content"] if table["name"] == "integrity_check")
        return None if integrity.get("rows") == [["tok"]] else Failure("recovery", acknowledged, f"killed after {acknowledged} steps: {integrity}")
