"""Random values, expressions, and conditions with the same result in each version of SQLite."""

NUMBERS = ("2147483648", "-2147483649", "1000003", "0", "-1", "1")
WORDS = ("alpha", "beta", "gamma", "delta", "12", "007", "Alpha", "")


class Expressions:
    def __init__(self, random): self.random = random

    def value(self, kind, most=20):
        """Returns an SQL literal, or an expression without columns, of at most `most` bytes."""
        random = self.random
        if kind == "any": kind = random.choice(("int", "real", "text", "blob"))
        if kind == "int": return random.choice(NUMBERS) if random.random() < 0.1 else str(random.randint(-9, 40))
        # Fractions that are not whole, and whose text has few digits in each version.
        if kind == "real": return f"{random.randint(-9, 40)}.{random.choice(('25', '5', '75'))}"
        if most > 40 and random.random() < 0.6:
            text = f"printf('%0*d', {random.randint(most // 4, most)}, {random.randint(0, 99999)})"
            return text if kind == "text" else random.choice((f"CAST({text} AS BLOB)", f"CAST({text} AS BLOB)", f"zeroblob({random.randint(most // 4, most)})"))
        if kind == "text": return f"'{random.choice(WORDS)}'"
        return f"x'{random.randbytes(random.randint(0, 6)).hex()}'"

    def any_value(self, kind, most=20):
        """Returns a value of the kind, or sometimes NULL or a value of another kind."""
        if self.random.random() < 0.12: return "NULL"
        return self.value("any" if self.random.random() < 0.06 else kind, most)

    def row_value(self, kind):
        """Returns an expression of the number i of a row, with different and unordered values for most rows."""
        random = self.random
        factor = random.choice((7919, 104729, 611953))
        if kind == "any": kind = random.choice(("int", "real", "text", "blob"))
        if kind == "int": return random.choice((f"(i * {factor}) % 10007", f"(i * {factor}) % 10007", f"i % {random.randint(2, 9)}"))
        if kind == "real": return f"(i * {factor}) % 1009 + 0.5"
        size = random.choice((20, 100, 100, 300))
        text = f"printf('%0*d', {size}, (i * {factor}) % 1000003)" if random.random() < 0.3 else f"printf('h%08x%0*d', (i * {factor}) % 1000003, {size}, i)"
        return text if kind == "text" else f"CAST({text} AS BLOB)"

    def scalar(self, scope, depth=1):
        random = self.random
        name, kind = random.choice(scope)
        other, _ = random.choice(scope)
        choice = random.randint(0, 13 if depth else 4)
        if choice <= 2: return name
        if choice == 3: return self.value(kind)
        if choice == 4: return f"length({name})"
        if choice == 5: return f"typeof({name})"
        if choice == 6: return f"coalesce({name}, {other}, {self.value(kind)})"
        if choice == 7: return f"{name} IS {random.choice(('NULL', 'NOT NULL', other))}"
        if choice == 8: return f"CASE WHEN {self.predicate(scope, depth - 1)} THEN {self.scalar(scope, depth - 1)} ELSE {self.scalar(scope, depth - 1)} END"
        if choice == 9: return f"substr({name}, {random.choice(('1', '2', '-3'))}, 4)"
        if choice == 10: return f"hex(substr({name}, 1, 4))"
        if choice == 11: return f"nullif({name}, {self.value(kind)})"
        if choice == 12: return f"iif({self.predicate(scope, depth - 1)}, {name}, {other})"
        return f"(length({name}) {random.choice('+-*')} {random.randint(1, 9)})"

    def predicate(self, scope, depth=1):
        random = self.random
        name, kind = random.choice(scope)
        choice = random.randint(0, 12 if depth else 7)
        if choice <= 1: return f"{name} {random.choice(('=', '<', '<=', '>', '<>', 'IS', 'IS NOT'))} {self.value(kind)}"
        if choice == 2: return f"{name} IS NULL"
        if choice == 3: return f"{name} IS NOT NULL"
        if choice == 4: return f"{name} BETWEEN {self.value(kind)} AND {self.value(kind)}"
        if choice == 5: return f"{name} {random.choice(('IN', 'IN', 'NOT IN'))} ({', '.join(self.value(kind) for _ in range(random.randint(1, 4)))})"
        if choice == 6: return f"length({name}) {random.choice('<>=')} {random.randint(0, 9)}"
        if choice == 7: return f"{name} {random.choice(('=', '<', 'IS'))} {random.choice(scope)[0]}"
        if choice == 8: return f"NOT ({self.predicate(scope, depth - 1)})"
        # Not for blobs, because a build option decides whether LIKE matches them.
        if choice == 9: return f"typeof({name}) = 'text' AND {name} LIKE '{random.choice(('a', '%', '0', '1'))}%'"
        joiner = random.choice((" AND ", " OR "))
        return "(" + joiner.join(self.predicate(scope, depth - 1) for _ in range(2)) + ")"

    def equality(self, one, other):
        return f"{self.random.choice(one)[0]} = {self.random.choice(other)[0]}"
