"""The two engines: Coffer's process, and a plain SQLite that Python can load. Both reply to steps in the same format (Tests/EngineRunner/Reply.swift)."""
import base64, importlib, json, select, struct, subprocess

ABORT = 4


class Died(Exception):
    """The process has ended, or no longer answers; `code` is its exit code, or None."""

    def __init__(self, code): self.code = code


class Runner:
    """A process of EngineRunner."""

    def __init__(self, command, seconds=60):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.seconds, self.buffer = seconds, b""

    def send(self, step):
        self.process.stdin.write(json.dumps(step).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """Returns the next reply, or raises Died."""
        parts = [self.buffer]
        while b"\n" not in parts[-1]:
            ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
            if not ready:
                self.process.kill()
                self.process.wait()
                raise Died(None)
            part = self.process.stdout.read1(1 << 20)
            if not part: raise Died(self.process.wait())
            parts.append(part)
        line, _, self.buffer = b"".join(parts).partition(b"\n")
        return json.loads(line)

    def ask(self, step):
        try:
            self.send(step)
        except BrokenPipeError:
            raise Died(self.process.wait()) from None
        return self.receive()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            # The rest of a line that the process did not read.
            pass


def text(value):
    """Returns the value in the notation of EngineRunner."""
    if value is None: return "n"
    if isinstance(value, int): return f"i{value}"
    if isinstance(value, float): return f"r{struct.unpack('<Q', struct.pack('<d', value))[0]:x}"
    if isinstance(value, str): return "t" + value
    return "b" + base64.b64encode(value).decode()


class Plain:
    """A connection of a Python module to an in-memory database."""

    def __init__(self, module):
        self.module = module
        if module.__name__ == "apsw":
            self.connection = module.Connection(":memory:")
        else:
            self.connection = module.connect(":memory:", isolation_level=None)
        for sql in ("PRAGMA foreign_keys = ON", "PRAGMA recursive_triggers = OFF", "ATTACH ':memory:' AS other"): self.run(sql)

    def run(self, sql):
        """Returns the rows of a statement, or its failure."""
        try:
            cursor = self.connection.cursor()
            return {"rows": [[text(value) for value in row] for row in cursor.execute(sql)]}
        except self.module.Error as error:
            code = getattr(error, "result", None) or getattr(error, "sqlite_errorcode", None)
            return {"error": {"code": code & 255 if code else None, "isRefusal": False, "words": str(error)}}

    @property
    def is_in_transaction(self):
        return self.connection.in_transaction

    def end(self): self.connection.close()


class Reference:
    """Runs steps on a plain SQLite in the same way as Coffer. Statements that Coffer refused are skipped."""

    def __init__(self, module): self.plain = Plain(module)

    def ask(self, step, other):
        """Returns the reply to a step, to which the other engine replied `other`."""
        self.answers, self.others, self.is_over = [], iter(other.get("answers", [])), False
        # The names of the open savepoints, and True if Coffer has rolled back the innermost one: its remaining statements then fail.
        self.savepoints, self.is_undone = [], False
        error = None
        kind = step["kind"]
        # Without a transaction of Coffer's, the statements after a rollback run on their own.
        self.ends_with_transaction = kind == "write"
        if kind == "write":
            error = self.write(step, other)
        elif kind == "raw":
            for item in step["body"]: self.answer(item["sql"])
            if self.plain.is_in_transaction: self.plain.run("ROLLBACK")
        elif kind == "read":
            self.answer(step["sql"])
        elif kind == "count":
            self.answer(f"SELECT count(*) FROM {step['name']}")
        reply = {"answers": self.answers}
        return reply | {"error": error} if error else reply

    def write(self, step, other):
        self.plain.run("BEGIN IMMEDIATE")
        self.body(step["body"])
        if self.is_over:
            # Coffer reports the rollback at the end of the transaction.
            return other.get("error")
        if step["end"] != "commit" or (other.get("error") or {}).get("isRefusal"):
            self.plain.run("ROLLBACK")
            return other.get("error") if step["end"] == "commit" else None
        error = self.plain.run("COMMIT").get("error")
        if error: self.plain.run("ROLLBACK")
        return error

    def body(self, items):
        for item in items:
            if "savepoint" not in item:
                self.answer(item["sql"])
                continue
            if self.is_undone: self.abort()
            if not self.is_over: self.run("SAVEPOINT inner_one")
            self.body(item["savepoint"])
            if self.is_undone and item["end"] == "commit": self.abort()
            if self.is_over: continue
            if item["end"] != "commit": self.run("ROLLBACK TO inner_one")
            self.run("RELEASE inner_one")

    def abort(self):
        """Ends the transaction as the error of a savepoint that cannot begin or be released does in Coffer."""
        self.run("ROLLBACK")
        self.is_over = True

    def run(self, sql):
        """Runs a statement, and follows the savepoints."""
        answer = self.plain.run(sql)
        if "error" not in answer:
            match sql.split():
                case ["SAVEPOINT", name]: self.savepoints.append(name)
                case ["ROLLBACK", "TO", name]:
                    while self.savepoints[-1] != name: self.savepoints.pop()
                    self.is_undone = False
                case ["RELEASE", name]:
                    while self.savepoints.pop() != name: pass
        if not self.plain.is_in_transaction: self.savepoints, self.is_undone = [], False
        return answer

    def answer(self, sql):
        other = next(self.others, None)
        failure = (other or {}).get("error") or {}
        if self.is_over or failure.get("isRefusal") or self.is_undone and not sql.startswith("ROLLBACK"):
            # A refusal may have rolled back the savepoint or the whole transaction: the remaining steps then fail in Coffer.
            if failure.get("undoesSavepoint"):
                self.run(f"ROLLBACK TO {self.savepoints[-1]}")
                self.is_undone = True
            elif self.plain.is_in_transaction and not other["isInTransaction"]:
                self.run("ROLLBACK")
                self.is_over = self.ends_with_transaction
            self.answers.append(other)
            return
        self.answers.append(self.run(sql) | {"isInTransaction": self.plain.is_in_transaction})

    def content(self):
        names = self.plain.run("SELECT schema, name, type FROM pragma_table_list WHERE schema <> 'temp' AND type <> 'view' ORDER BY schema, name")["rows"]
        return [{"name": f"{schema[1:]}.{name[1:]}", "isShadow": kind == "tshadow", "answer": self.plain.run(f'SELECT * FROM {schema[1:]}."{name[1:]}"')}
                for schema, name, kind in names]

    def end(self): self.plain.end()


class OtherRunner:
    """An EngineRunner with another engine, used as the second engine."""

    def __init__(self, command, path, options):
        self.runner = Runner(command)
        self.runner.ask({"kind": "open", "path": path, "options": options})

    def ask(self, step, other): return self.runner.ask(step)

    def content(self): return self.runner.ask({"kind": "content"})["content"]

    def end(self): self.runner.end()


def newest_module():
    """Returns the module with the newest SQLite, and its version."""
    found = []
    for name in ("apsw", "pysqlite3", "sqlite3"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        version = module.sqlitelibversion() if name == "apsw" else module.sqlite_version
        found.append((tuple(int(part) for part in version.split(".")), module))
    version, module = max(found, key=lambda pair: pair[0])
    return module, version
