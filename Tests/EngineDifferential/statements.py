"""Random statements on a schema. Their effects do not depend on the order in which the engine visits the rows."""

ROWS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"


class Statements:
    def __init__(self, random, schema):
        self.random, self.schema, self.expressions = random, schema, schema.expressions

    def change(self):
        random = self.random
        makers = [self.insert] * 5 + [self.update] * 6 + [self.delete] * 2 + [self.upsert] * 2 + [self.schema_change, self.copy, self.update_from]
        if self.schema.texts: makers += [self.text_change] * 4
        if random.random() < (0.3 if self.schema.is_spilling else 0.08): return self.mass_insert()
        return random.choice(makers)()

    def query(self):
        random = self.random
        makers = [self.plain, self.plain, self.aggregate, self.group, self.join, self.join, self.long_join, self.compound, self.subquery, self.window, self.common]
        if self.schema.views: makers += [self.count, self.count, self.plain, self.aggregate]
        if self.schema.texts: makers += [self.text_query] * 2
        if self.schema.descending: makers += [self.membership] * 2
        return random.choice(makers)()

    # Changes

    def size(self): return self.random.choice((20, 20, 600, 6000, 20000))

    def rows(self, table, count):
        size = self.size()
        return ", ".join("(" + ", ".join(self.key() if column is table.key else self.value(table, column, size) for column in table.stored) + ")"
                         for _ in range(count))

    def value(self, table, column, size):
        """Returns a value for a column. If types are enforced, it is rarely of another type, which would fail."""
        if column.is_reference: return self.random.choice(("NULL", self.key(), self.key()))
        if table.is_strict and self.random.random() < 0.98: return self.expressions.value(column.kind, size)
        return self.expressions.any_value(column.kind, size)

    def key(self): return str(self.random.randint(1, 60))

    def names(self, table): return ", ".join(column.name for column in table.stored)

    def insert(self):
        random = self.random
        table = random.choice(self.schema.tables)
        verb = random.choice(("INSERT", "INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR FAIL"))
        returning = " RETURNING *" if random.random() < 0.15 else ""
        return f"{verb} INTO {table.name} ({self.names(table)}) VALUES {self.rows(table, random.choice((1, 1, 2, 5)))}{returning}"

    def mass_insert(self, table=None, may_fail=True):
        """Returns a statement with many rows, in the order of their number: the failing row may be the last one."""
        random = self.random
        table = table or random.choice(self.schema.tables)
        count = random.choice((60, 200, 200, 600, 2000)) if self.schema.is_spilling else random.choice((10, 50, 200))
        fails = may_fail and random.random() < 0.4
        base = random.randint(1, 50) * 10000
        terms = []
        for column in table.stored:
            if column is table.key or column.is_unique:
                order = random.choice(("i", "(i * 7919) % 10007"))
                terms.append(f"CASE i WHEN {count} THEN {base + 1} ELSE {base} + {order} END" if fails else f"{base} + {order}")
            elif column.is_reference:
                terms.append("NULL")
            elif fails and not column.may_be_null:
                terms.append(f"CASE i WHEN {count} THEN NULL ELSE {self.expressions.row_value(column.kind)} END")
            else:
                terms.append(self.expressions.row_value(column.kind))
        verb = random.choice(("INSERT", "INSERT", "INSERT", "INSERT OR IGNORE", "INSERT OR FAIL"))
        return f"{ROWS.format(count)} {verb} INTO {table.name} ({self.names(table)}) SELECT {', '.join(terms)} FROM n"

    def assignments(self, table, columns):
        random, expressions = self.random, self.expressions
        size = self.size()
        return ", ".join(f"{column.name} = " + random.choice((
            self.value(table, column, size), self.value(table, column, size), expressions.scalar(table.scope()), column.name))
            for column in columns)

    def update(self, table=None):
        random = self.random
        table = table or random.choice(self.schema.tables)
        plain = [column for column in table.stored if not column.is_unique]
        if table.key and (not plain or random.random() < 0.3):
            columns = random.sample(table.stored, 1)
            return f"UPDATE {random.choice(('', 'OR REPLACE ', 'OR IGNORE '))}{table.name} SET {self.assignments(table, columns)} WHERE k = {self.key()}"
        if not plain: return self.delete()
        columns = random.sample(plain, random.randint(1, min(2, len(plain))))
        where = "" if random.random() < 0.15 else f" WHERE {self.expressions.predicate(table.scope())}"
        returning = " RETURNING *" if random.random() < 0.1 else ""
        return f"UPDATE {table.name} SET {self.assignments(table, columns)}{where}{returning}"

    def delete(self):
        table = self.random.choice(self.schema.tables)
        where = f"k = {self.key()}" if table.key and self.random.random() < 0.5 else self.expressions.predicate(table.scope(), depth=1)
        return f"DELETE FROM {table.name} WHERE {where}"

    def upsert(self):
        random = self.random
        if not self.schema.keyed: return self.insert()
        table = random.choice(self.schema.keyed)
        column = random.choice(table.stored)
        action = "DO NOTHING" if random.random() < 0.3 else f"DO UPDATE SET {column.name} = excluded.{column.name}"
        return f"INSERT INTO {table.name} ({self.names(table)}) VALUES {self.rows(table, random.choice((1, 3)))} ON CONFLICT (k) {action}"

    def copy(self):
        """Returns a statement that uses rows of another table, in the order of their keys."""
        random = self.random
        if not self.schema.keyed: return self.insert()
        table, source = random.choice(self.schema.tables), random.choice(self.schema.keyed)
        terms = [f"k + {random.randint(0, 90)}" if column is table.key else "NULL" if column.is_reference else random.choice(source.columns).name for column in table.stored]
        verb = random.choice(("INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT"))
        return f"{verb} INTO {table.name} ({self.names(table)}) SELECT {', '.join(terms)} FROM {source.name}{self.where(source.scope())} ORDER BY k LIMIT {random.randint(1, 50)}"

    def update_from(self):
        """Returns a statement for which at most one row of the other table matches, by its key."""
        random = self.random
        free = [(table, column) for table in self.schema.tables for column in table.stored if not column.is_unique and not column.is_reference]
        if not free or not self.schema.keyed: return self.update()
        (table, column), source = random.choice(free), random.choice(self.schema.keyed)
        names = [other.name for other in table.columns]
        return f"UPDATE {table.name} SET {column.name} = y.{random.choice(source.columns).name} FROM {source.name} y WHERE y.k = {table.name}.{random.choice(names)}"

    def schema_change(self):
        random = self.random
        table = random.choice(self.schema.tables)
        column = random.choice(table.columns)
        number = random.randint(100, 999)
        return random.choice((
            f"CREATE INDEX y{number} ON {table.name} ({column.name})", f"CREATE TABLE n{number} AS SELECT * FROM {table.name}",
            f"ALTER TABLE {table.name} ADD COLUMN z{number} DEFAULT {random.choice(('NULL', '5'))}", f"CREATE INDEX y{number} ON {table.name} (length({column.name})) WHERE {column.name} IS NOT NULL",
            f"ALTER TABLE {table.name} DROP COLUMN {column.name}", "REINDEX", "ANALYZE", f"DROP TABLE IF EXISTS n{number}"))

    def text_change(self):
        random = self.random
        name = random.choice(self.schema.texts)
        words = " ".join(random.choice(("alpha", "beta", "gamma", "delta", "epsilon")) for _ in range(random.choice((2, 5, 400))))
        key = self.key()
        return random.choice((
            f"INSERT INTO {name} (rowid, head, body) VALUES ({key}, 'h{key}', '{words}')", f"INSERT OR REPLACE INTO {name} (rowid, head, body) VALUES ({key}, NULL, '{words}')",
            f"UPDATE {name} SET body = '{words}' WHERE rowid < {key}", f"UPDATE {name} SET head = x'00ff41' WHERE rowid = {key}", f"DELETE FROM {name} WHERE rowid = {key}",
            f"INSERT INTO {name} ({name}) VALUES ('{random.choice(('optimize', 'rebuild', 'integrity-check', 'merge=4'))}')",
            f"{ROWS.format(200)} INSERT INTO {name} (rowid, head, body) SELECT 1000 + i, 'h' || i, '{words[:60]}' FROM n"))

    # Queries

    def source(self):
        return self.random.choice(self.schema.tables + self.schema.views * 2)

    def joined(self, table):
        """Returns the table for a query that compares all pairs of rows: only some of its rows if it may have many."""
        if not self.schema.is_spilling: return table.name
        return f"(SELECT * FROM {table.name} ORDER BY {'k' if table.key else 'rowid'} LIMIT 60)"

    def where(self, scope): return f" WHERE {self.expressions.predicate(scope)}" if self.random.random() < 0.6 else ""

    def plain(self):
        random = self.random
        table = random.choice(self.schema.tables)
        scope = table.scope()
        terms = [self.expressions.scalar(scope) for _ in range(random.randint(1, 3))]
        distinct = random.choice(("", "", "DISTINCT "))
        # Sorts by all terms, so that only the values determine the order of the rows.
        order = " ORDER BY " + ", ".join(str(number + 1) for number in range(len(terms))) if random.random() < 0.5 else ""
        limit = f" LIMIT {random.randint(1, 20)} OFFSET {random.randint(0, 3)}" if order and random.random() < 0.5 else ""
        return f"SELECT {distinct}{', '.join(terms)} FROM {table.name}{self.where(scope)}{order}{limit}"

    def count(self):
        table = self.random.choice(self.schema.views)
        return f"SELECT count(*) FROM {table.name}{self.where(table.scope()) if self.random.random() < 0.4 else ''}"

    def total(self, name):
        return self.random.choice((f"count({name})", f"count(DISTINCT {name})", f"sum(length({name}))", f"max(length({name}))", f"min(typeof({name}))", "count(*)"))

    def aggregate(self):
        source = self.source()
        scope = source.scope()
        totals = [self.total(self.random.choice(scope)[0]) for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.2: totals.append(f"count(*) FILTER (WHERE {self.expressions.predicate(scope, depth=0)})")
        return f"SELECT {', '.join(totals)} FROM {source.name}{self.where(scope)}"

    def group(self):
        table = self.random.choice(self.schema.tables)
        scope = table.scope()
        term = self.expressions.scalar(scope)
        having = self.random.choice(("", "", " HAVING count(*) > 1", " HAVING max(" + self.random.choice(scope)[0] + ") IS NOT NULL"))
        return f"SELECT {term}, {self.total(self.random.choice(scope)[0])} FROM {table.name}{self.where(scope)} GROUP BY 1{having}"

    def join(self):
        random = self.random
        one, other = random.choice(self.schema.tables), random.choice(self.schema.tables)
        left, right = one.scope("x."), other.scope("y.")
        condition = self.expressions.equality(left, right)
        if random.random() < 0.4: condition += f" AND {self.expressions.predicate(left + right, depth=0)}"
        kind = random.choice(("JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        return f"SELECT count(*), {self.total(random.choice(left)[0])}, {self.total(random.choice(right)[0])} FROM {self.joined(one)} x {kind} {self.joined(other)} y ON {condition}{self.where(left + right)}"

    def long_join(self):
        """Returns a query on three tables, with some rows of each."""
        random = self.random
        tables = [random.choice(self.schema.tables) for _ in range(3)]
        scopes = [table.scope(f"{name}.") for table, name in zip(tables, "xyz")]
        sources = [f"(SELECT * FROM {table.name} ORDER BY {'k' if table.key else 'rowid'} LIMIT 20) {name}" if random.random() < 0.4 or self.schema.is_spilling
                   else f"{table.name} {name}" for table, name in zip(tables, "xyz")]
        kinds = [random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")) for _ in range(2)]
        conditions = [self.expressions.equality(scopes[0], scopes[1]), self.expressions.equality(random.choice(scopes[:2]), scopes[2])]
        everything = sum(scopes, [])
        if random.random() < 0.4: conditions[1] += f" AND {self.expressions.predicate(everything, depth=0)}"
        totals = ", ".join(f"count({random.choice(scope)[0]})" for scope in scopes)
        return (f"SELECT count(*), {totals} FROM {sources[0]} {kinds[0]} {sources[1]} ON {conditions[0]} {kinds[1]} {sources[2]} ON {conditions[1]}"
                f"{self.where(everything)}")

    def common(self):
        """Returns a query with a common table expression that is used twice."""
        random = self.random
        table = random.choice(self.schema.tables)
        scope = table.scope()
        inner = f"SELECT {random.choice(('', 'DISTINCT '))}{self.expressions.scalar(scope)} AS p, {random.choice(scope)[0]} AS q FROM {self.joined(table)}{self.where(scope)}"
        hint = random.choice(("", "MATERIALIZED ", "NOT MATERIALIZED "))
        both = [("x.p", "any"), ("y.q", "any")]
        return (f"WITH c AS {hint}({inner}) SELECT count(*), count(x.p), count(y.q) FROM c x {random.choice(('JOIN', 'LEFT JOIN'))} c y ON x.p {random.choice(('=', 'IS'))} y.q"
                f"{self.where(both)}")

    def compound(self):
        random = self.random
        one, other = random.choice(self.schema.tables), random.choice(self.schema.tables)
        # A term with + has no affinity. The affinity of a compound's column depends on the version if its
        # terms differ.
        verb = random.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
        inner = (f"SELECT {random.choice(('', 'DISTINCT '))}+{self.expressions.scalar(one.scope())} AS p FROM {one.name}{self.where(one.scope())} "
                 f"{verb} SELECT {random.choice(('', 'DISTINCT '))}+{self.expressions.scalar(other.scope())} FROM {other.name}")
        return random.choice((inner, f"SELECT count(*) FROM ({inner})", f"SELECT count(p) FROM ({inner}) WHERE {self.expressions.predicate([('p', 'any')], depth=0)}"))

    def subquery(self):
        random = self.random
        one, other = random.choice(self.schema.tables), random.choice(self.schema.tables)
        left, right = one.scope("x."), other.scope("y.")
        inner = random.choice(right)[0]
        condition = random.choice((
            f"{random.choice(left)[0]} {random.choice(('IN', 'NOT IN'))} (SELECT {inner} FROM {other.name} y{self.where(right)})",
            f"{random.choice(('', 'NOT '))}EXISTS (SELECT 1 FROM {self.joined(other)} y WHERE {self.expressions.equality(left, right)})",
            f"{random.choice(left)[0]} >= (SELECT {random.choice(('max', 'min'))}({inner}) FROM {other.name} y)"))
        joined = random.choice((" AND ", " OR ")) + self.expressions.predicate(left) if random.random() < 0.5 else ""
        return f"SELECT count(*), {self.total(random.choice(left)[0])} FROM {self.joined(one)} x WHERE {condition}{joined}"

    def membership(self):
        """Returns a query that an index in descending order can answer, and whose result depends on NULLs."""
        random = self.random
        one, (other, column) = random.choice(self.schema.tables), random.choice(self.schema.descending)
        test = f"{random.choice(one.scope('x.'))[0]} {random.choice(('IN', 'NOT IN', 'NOT IN'))} (SELECT {column} FROM {other.name})"
        return random.choice((f"SELECT {test} FROM {self.joined(one)} x", f"SELECT count(*) FROM {one.name} x WHERE {test}"))

    def window(self):
        random = self.random
        table = random.choice(self.schema.keyed or self.schema.tables)
        scope = table.scope()
        order = "k" if table.key else ", ".join(name for name, _ in scope)
        function = random.choice(("row_number()", "rank()", f"sum(length({random.choice(scope)[0]}))", f"count({random.choice(scope)[0]})"))
        partition = f"PARTITION BY typeof({random.choice(scope)[0]}) " if random.random() < 0.5 else ""
        return f"SELECT {order}, {function} OVER ({partition}ORDER BY {order}) FROM {table.name}{self.where(scope)}"

    def text_query(self):
        random = self.random
        name = random.choice(self.schema.texts)
        words = ("alpha", "beta", "gamma", "delta", "epsilon", "al*", "alpha OR beta", "gamma NOT delta", '"alpha beta"', "body : beta", "h1*")
        return random.choice((f"SELECT rowid, head, length(body) FROM {name} WHERE {name} MATCH '{random.choice(words)}'", f"SELECT count(*) FROM {name} WHERE {name} MATCH '{random.choice(words)}'",
                              f"SELECT rowid, head FROM {name} WHERE rowid BETWEEN {self.key()} AND {self.key()}"))
