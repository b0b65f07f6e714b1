"""Random programs: a schema, then transactions, statements, reads, checkpoints, and openings. A program is a dictionary that can be converted to JSON."""
import random as randomness

from schema import Schema
from statements import Statements


def make(seed, number, may_spill=True):
    """Returns the program with this number. If it may spill, half of the programs have transactions larger than the page cache."""
    random = randomness.Random(f"{seed}:{number}")
    is_spilling = may_spill and random.random() < 0.5
    program = {"seed": seed, "number": number, "options": options(random, is_spilling), "steps": []}
    schema = Schema(random, is_spilling, program["options"]["isAttaching"])
    beginning = [f"PRAGMA auto_vacuum = {random.choice(('FULL', 'INCREMENTAL'))}", "VACUUM"] if random.random() < 0.2 else []
    program["steps"] = [{"kind": "raw", "body": [{"sql": sql}]} for sql in beginning + schema.statements]
    maker = Maker(random, schema)
    for table in schema.tables: program["steps"].append(maker.first_rows(table))
    for _ in range(random.randint(5, 20)): program["steps"].append(maker.step())
    return program


def options(random, is_spilling):
    is_attaching = random.random() < 0.25
    # ATTACH requires SQLCipher's default settings.
    page_size = 4096 if is_attaching else random.choice((1024, 1024, 4096))
    pages = random.choice((5, 10, 20)) if is_spilling else random.choice((10, 100, 4000))
    preparations = ["PRAGMA synchronous = OFF"]
    checkpoint = random.choice((0, 0, 20, 200, None))
    if checkpoint is not None: preparations.append(f"PRAGMA wal_autocheckpoint = {checkpoint}")
    if random.random() < 0.2: preparations.append(f"PRAGMA cache_spill = {random.choice((1, 5, 50))}")
    if is_attaching: preparations.append(f"PRAGMA other.cache_size = {pages}")
    return {"isQueue": random.random() < 0.4, "isAttaching": is_attaching, "pageSize": page_size, "pageCacheSize": pages * page_size, "preparations": preparations}


class Maker:
    def __init__(self, random, schema):
        self.random, self.schema, self.statements = random, schema, Statements(random, schema)

    def first_rows(self, table):
        return {"kind": "write", "end": "commit", "body": [{"sql": f"INSERT OR IGNORE INTO {table.name} ({self.statements.names(table)}) VALUES {self.statements.rows(table, 8)}"}]}

    def step(self):
        random = self.random
        choice = random.random()
        if self.schema.is_spilling and choice < 0.25: return self.spilling()
        if choice < 0.5: return {"kind": "write", "end": random.choice(("commit",) * 8 + ("rollback", "error")), "body": self.body(2)}
        if choice < 0.6: return {"kind": "raw", "body": [{"sql": sql} for sql in self.raw()]}
        if choice < 0.68: return {"kind": "raw", "body": [{"sql": self.statements.change()}]}
        if choice < 0.92: return {"kind": "read", "sql": self.statements.query()}
        if choice < 0.95 and self.schema.views: return {"kind": "count", "name": random.choice(self.schema.views).name}
        if choice < 0.98: return {"kind": "checkpoint", "name": random.choice(("passive", "full", "restart", "truncate"))}
        return random.choice(({"kind": "reopen"}, {"kind": "raw", "body": [{"sql": "VACUUM"}]}))

    def item(self):
        return {"sql": self.statements.query() if self.random.random() < 0.2 else self.statements.change()}

    def body(self, depth):
        items = []
        for _ in range(self.random.randint(1, 4)):
            if depth and self.random.random() < 0.3:
                items.append({"savepoint": self.body(depth - 1), "end": self.random.choice(("commit", "rollback", "rollback", "error"))})
            else:
                items.append(self.item())
        return items

    def spilling(self):
        """Returns a transaction of which a large part is rolled back, by a savepoint or by failing statements. More commits may follow."""
        random = self.random
        table = random.choice(self.schema.tables)
        large = [{"sql": self.statements.mass_insert(table, may_fail=False)}]
        if random.random() < 0.4: large.append({"sql": random.choice((self.statements.update, self.statements.mass_insert))(table)})
        if random.random() < 0.6:
            part = {"savepoint": large, "end": random.choice(("rollback", "error"))}
            before = [self.item()] if random.random() < 0.4 else []
            return {"kind": "write", "end": "commit", "body": before + [part] + self.body(0)}
        return {"kind": "write", "end": "commit", "body": large + self.body(1)}

    def raw(self):
        """Returns statements that begin and end transactions themselves, some of them in the wrong place."""
        random = self.random
        statements, names = [random.choice(("BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s0"))], ["s0"]
        for _ in range(random.randint(2, 8)):
            choice = random.random()
            if choice < 0.2:
                names.append(f"s{random.randint(0, 2)}")
                statements.append(f"SAVEPOINT {names[-1]}")
            elif choice < 0.35:
                statements.append(f"ROLLBACK TO {random.choice(names)}")
            elif choice < 0.45:
                statements.append(f"RELEASE {random.choice(names)}")
            elif choice < 0.55:
                statements.append(self.rolling_back(self.statements.change()))
            else:
                statements.append(self.item()["sql"])
        statements.append(random.choice(("COMMIT", "COMMIT", "COMMIT", "ROLLBACK", "RELEASE s0")))
        return statements

    def rolling_back(self, change):
        """Returns the statement with OR ROLLBACK. Full-text tables are excepted: SQLite ignores OR ROLLBACK of a virtual table on a connection that returns
        extended result codes, as those of Python's module do and those of Coffer do not."""
        if any(f"INSERT INTO {name} " in change for name in self.schema.texts): return change
        return change.replace("INSERT INTO", "INSERT OR ROLLBACK INTO", 1)
