"""Random schemas: tables of each kind, with constraints, generated columns, indexes, views, triggers, and full text."""
from expressions import Expressions

STRICT_TYPES = {"INTEGER": "int", "REAL": "real", "TEXT": "text", "BLOB": "blob", "ANY": "any"}
FREE_TYPES = {"": "any", "BLOB": "blob", "TEXT": "text", "INTEGER": "int", "REAL": "real", "NUMERIC": "any"}


class Column:
    def __init__(self, name, kind, type="", is_unique=False, is_generated=False, may_be_null=True):
        self.name, self.kind, self.type = name, kind, type
        self.is_unique, self.is_generated, self.may_be_null = is_unique, is_generated, may_be_null
        # True if its values are keys of another table.
        self.is_reference = False


class Table:
    def __init__(self, name, columns, key=None, is_strict=False):
        self.name, self.columns, self.key, self.is_strict = name, columns, key, is_strict

    @property
    def stored(self): return [column for column in self.columns if not column.is_generated]

    def scope(self, prefix=""): return [(prefix + column.name, column.kind) for column in self.columns]


class Schema:
    """The tables of a program, and the statements that create them."""

    def __init__(self, random, is_spilling, is_attaching):
        self.random, self.expressions, self.is_spilling = random, Expressions(random), is_spilling
        self.tables, self.views, self.texts, self.statements = [], [], [], []
        # The tables and columns of which an index is in descending order.
        self.descending = []
        for number in range(random.randint(1, 3)): self.add_table(f"t{number}")
        self.add("CREATE TABLE log (event TEXT, value)")
        for _ in range(random.randint(0, 3)): self.add_index()
        for number in range(random.randint(0, 3)): self.add_view(f"v{number}")
        for number in range(random.choice((0, 0, 0, 1, 2))): self.add_trigger(f"g{number}")
        if random.random() < 0.25: self.add_text("f0")
        # Last, because the other tables cannot refer to another file.
        if is_attaching: self.add_table("u0", "other.")

    def add(self, sql): self.statements.append(sql)

    def add_table(self, name, file=""):
        random, expressions = self.random, self.expressions
        is_strict = random.random() < 0.2
        # Only types without conversion of values, as in applications' tables of notes and files.
        is_bare = not is_strict and random.random() < 0.4
        types = STRICT_TYPES if is_strict else {"": "any", "BLOB": "blob"} if is_bare else FREE_TYPES
        is_without_rowid = random.random() < 0.15
        has_key = is_without_rowid or random.random() < (0.2 if is_bare else 0.7)
        columns, parts = [], []
        if has_key:
            columns.append(Column("k", "int", "INTEGER", is_unique=True, may_be_null=False))
            parts.append("k INTEGER PRIMARY KEY" if random.random() < 0.8 else "k INT NOT NULL PRIMARY KEY")
        for letter in "abcdef"[:random.randint(2, 5)]:
            type = random.choice(list(types))
            column, part = Column(letter, types[type], type), f"{letter} {type}".strip()
            if not is_bare and random.random() < 0.1:
                column.may_be_null = False
                part += f" NOT NULL DEFAULT {expressions.value(column.kind)}"
            elif random.random() < 0.08:
                column.is_unique = True
                part += " UNIQUE"
            elif random.random() < 0.06:
                part += f" CHECK ({expressions.predicate([(letter, column.kind)])} OR {letter} IS NULL)"
            if column.kind == "text" and random.random() < 0.15: part += " COLLATE NOCASE"
            if column.kind in ("int", "any") and self.keyed and not file and random.random() < 0.15:
                column.is_reference = True
                part += f" REFERENCES {random.choice(self.keyed).name} (k) {random.choice(('', 'ON DELETE CASCADE', 'ON DELETE SET NULL', 'ON UPDATE CASCADE', 'DEFERRABLE INITIALLY DEFERRED'))}".rstrip()
            columns.append(column)
            parts.append(part)
        if random.random() < 0.25:
            type = "INTEGER" if is_strict else ""
            column = random.choice(columns)
            expression = random.choice((f"length({column.name})", f"{column.name} IS NOT NULL", f"coalesce(length({column.name}), 0) % 5"))
            columns.append(Column("w", "int", type, is_generated=True))
            parts.append(f"w {type} AS ({expression}) {random.choice(('VIRTUAL', 'STORED'))}".replace("  ", " "))
        if random.random() < (0.7 if is_bare else 0.2):
            first, second = columns[-1].name, random.choice(columns[:-1]).name
            parts.append("CHECK ({})".format(random.choice((
                f"{first} IS NOT NULL OR {second} IS NOT NULL", f"{first} IS NULL OR {second} IS NOT NULL",
                f"{second} IS NOT NULL OR {first} IS NOT NULL", f"{first} IS NOT NULL OR typeof({second}) <> 'text'"))))
        if has_key and len(columns) > 1 and random.random() < 0.25:
            names = ["k", random.choice(columns[1:]).name]
            random.shuffle(names)
            parts.append(f"UNIQUE ({', '.join(names)})")
        options = ", ".join(["STRICT"] * is_strict + ["WITHOUT ROWID"] * is_without_rowid)
        self.add(f"CREATE TABLE {file}{name} ({', '.join(parts)}) {options}".rstrip())
        self.tables.append(Table(name, columns, columns[0] if has_key else None, is_strict))

    @property
    def keyed(self): return [table for table in self.tables if table.key]

    def add_index(self):
        random = self.random
        table = random.choice(self.tables)
        name = f"x{len(self.statements)}"
        terms = [random.choice((column.name, column.name, f"{column.name} DESC", f"length({column.name})", f"coalesce({column.name}, 0)"))
                 for column in random.sample(table.columns, random.randint(1, min(3, len(table.columns))))]
        where = f" WHERE {self.expressions.predicate(table.scope(), depth=0)}" if random.random() < 0.35 else ""
        self.add(f"CREATE INDEX {name} ON {table.name} ({', '.join(terms)}){where}")
        if terms[0].endswith(" DESC") and not where: self.descending.append((table, terms[0].split()[0]))

    def add_view(self, name):
        random, expressions = self.random, self.expressions
        one, other = random.choice(self.tables), random.choice(self.tables)
        kind = random.choice(("distinct", "union", "simple", "group", "simple" if self.is_spilling else "join"))
        if kind in ("distinct", "union"):
            distinct = "DISTINCT " if kind == "distinct" else ""
            left, right = random.choice(one.columns), random.choice(other.columns)
            where = f" WHERE {expressions.predicate(one.scope())}" if random.random() < 0.4 else ""
            # If the affinities of a column differ, the version decides. A column without affinity avoids
            # that.
            if left.type != right.type: distinct += "+"
            columns, body = [Column("p", "any")], f"SELECT {distinct}{left.name} FROM {one.name}{where} UNION ALL SELECT {distinct}{right.name} FROM {other.name}"
        elif kind == "group":
            column = random.choice(one.columns)
            columns, body = [Column("p", "any"), Column("q", "int")], f"SELECT {column.name}, count(*) FROM {one.name} GROUP BY {column.name}"
        elif kind == "join":
            condition = expressions.equality(one.scope("x."), other.scope("y."))
            columns = [Column("p", "any"), Column("q", "any")]
            body = f"SELECT x.{random.choice(one.columns).name}, y.{random.choice(other.columns).name} FROM {one.name} x {random.choice(('JOIN', 'LEFT JOIN'))} {other.name} y ON {condition}"
        else:
            columns = [Column("p", "any"), Column("q", "any")]
            body = f"SELECT {expressions.scalar(one.scope())}, {random.choice(one.columns).name} FROM {one.name} WHERE {expressions.predicate(one.scope())}"
        self.add(f"CREATE VIEW {name} ({', '.join(column.name for column in columns)}) AS {body}")
        self.views.append(Table(name, columns))

    def add_trigger(self, name):
        """Adds a trigger whose effects do not depend on the order of the rows, which the engine may choose."""
        random, expressions = self.random, self.expressions
        table = random.choice(self.tables)
        event = random.choice(("INSERT", "UPDATE", "DELETE"))
        row = "old." if event == "DELETE" else "new."
        scope = table.scope(row)
        when = f" WHEN {expressions.predicate(scope, depth=0)}" if random.random() < 0.4 else ""
        value = random.choice(scope)[0]
        body = [f"INSERT INTO log VALUES ('{name}', {random.choice((value, f'length({value})', f'typeof({value})'))});"]
        if random.random() < 0.2: body.append(f"SELECT RAISE(ABORT, 'no') WHERE {expressions.predicate(scope, depth=0)} AND {random.choice(scope)[0]} IS NULL;")
        other = random.choice(self.tables)
        free = [column for column in other.stored if not column.is_unique and not column.is_reference]
        if other is not table and free and random.random() < 0.4:
            column = random.choice(free)
            body.append(f"UPDATE {other.name} SET {column.name} = {expressions.value(column.kind)} WHERE {expressions.predicate(other.scope(), depth=0)};")
        self.add(f"CREATE TRIGGER {name} AFTER {event} ON {table.name}{when} BEGIN {' '.join(body)} END")

    def add_text(self, name):
        options = self.random.choice(("", ", tokenize = 'trigram'", ", detail = 'none'", ", prefix = '2'"))
        self.add(f"CREATE VIRTUAL TABLE {name} USING fts5 (head, body{options})")
        self.texts.append(name)
