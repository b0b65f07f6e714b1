"""Reduces a failing program: removes the parts that it does not need to fail."""
import copy, re, time


def without_chunks(items, keep_fails):
    """Removes smaller and smaller runs of the items, as long as the rest still fails according to `keep_fails`."""
    size = max(1, len(items) // 2)
    while items:
        start, removed = 0, False
        while start < len(items):
            rest = items[:start] + items[start + size:]
            if keep_fails(rest):
                items, removed = rest, True
            else:
                start += size
        if size == 1 and not removed: break
        size = max(1, size // 2)
    return items


def bodies(program):
    """Returns the bodies of all steps and savepoints, the outer ones first."""
    waiting = [step["body"] for step in program["steps"] if "body" in step]
    while waiting:
        body = waiting.pop(0)
        yield body
        waiting += [item["savepoint"] for item in body if "savepoint" in item]


def shrink(program, fails, seconds):
    """Returns the smallest program found within the time for which `fails` is true."""
    end = time.monotonic() + seconds
    state = {"best": program}

    def accept(candidate):
        if time.monotonic() > end or not fails(candidate): return False
        state["best"] = candidate
        return True

    def edited(change):
        candidate = copy.deepcopy(state["best"])
        return accept(candidate) if change(candidate) is not False else False

    before = None
    while before != state["best"] and time.monotonic() < end:
        before = state["best"]
        without_chunks(before["steps"], lambda steps: accept(state["best"] | {"steps": steps}))
        number = 0
        while number < len(list(bodies(state["best"]))):
            def replace(items, number=number):
                def change(candidate): list(bodies(candidate))[number][:] = items
                return edited(change)
            items = without_chunks(list(bodies(state["best"]))[number], replace)
            for place, item in enumerate(items):
                # Tries the statements of a savepoint without the savepoint.
                if "savepoint" in item and replace(items[:place] + item["savepoint"] + items[place + 1:]): break
            else:
                number += 1
        shrink_numbers(state, edited)
        shrink_rows(state, edited)
        for key, value in (("isQueue", True), ("pageSize", 4096), ("preparations", ["PRAGMA wal_autocheckpoint = 0"]), ("preparations", [])):
            if state["best"]["options"][key] != value: edited(lambda candidate, key=key, value=value: candidate["options"].update({key: value}))
    return state["best"]


def shrink_numbers(state, edited):
    """Halves the numbers of rows of mass insertions."""
    pattern = re.compile(r"(WHERE i < )(\d+)")

    def places(program):
        return [item for body in bodies(program) for item in body if "sql" in item and pattern.search(item["sql"])]

    for number in range(len(places(state["best"]))):
        while True:
            def halve(candidate, number=number):
                item = places(candidate)[number]
                count = int(pattern.search(item["sql"])[2])
                if count < 2: return False
                # Replaces all mentions of the number, because the failing row is the last one.
                item["sql"] = re.sub(rf"\b{count}\b", str(count // 2), item["sql"])
            if not edited(halve): break


def split_rows(sql):
    """Returns the text before the rows of VALUES, the rows, and the text after them; or None if there is at most one row."""
    start = sql.find("VALUES (")
    if start < 0: return None
    rows, begin, depth, position = [], start + 7, 0, start + 7
    while position < len(sql):
        character = sql[position]
        if character == "'": position = sql.index("'", position + 1)
        if character == "(": depth += 1
        if character == ")":
            depth -= 1
            if not depth:
                rows.append(sql[begin:position + 1])
                if sql[position + 1:position + 4] != ", (": break
                begin = position = position + 3
                continue
        position += 1
    return (sql[:start + 7], rows, sql[position + 1:]) if len(rows) > 1 else None


def shrink_rows(state, edited):
    """Removes rows of VALUES."""
    def places(program):
        return [item for body in bodies(program) for item in body if "sql" in item and split_rows(item["sql"])]

    number = 0
    while number < len(places(state["best"])):
        before, rows, after = split_rows(places(state["best"])[number]["sql"])
        count = len(places(state["best"]))

        def keep(rows, number=number):
            def change(candidate):
                if not rows: return False
                places(candidate)[number]["sql"] = before + ", ".join(rows) + after
            return edited(change)
        without_chunks(rows, keep)
        # A statement with one row is no longer in `places`.
        if len(places(state["best"])) == count: number += 1


def script(program, failure):
    """Returns the program in readable form: SQL with comments."""
    options = program["options"]
    lines = [f"-- {'with an attached database, ' if options['isAttaching'] else ''}{'queue' if options['isQueue'] else 'pool'}, pages of {options['pageSize']} bytes, a cache of {options['pageCacheSize']} bytes"]
    lines += [f"{sql};" for sql in options["preparations"]]

    def write(items, indent):
        for item in items:
            if "sql" in item:
                lines.append(f"{indent}{item['sql']};")
                continue
            lines.append(f"{indent}SAVEPOINT inner_one;")
            write(item["savepoint"], indent + "  ")
            if item["end"] != "commit": lines.append(f"{indent}ROLLBACK TO inner_one;  -- by {'an error' if item['end'] == 'error' else 'inSavepoint'}")
            lines.append(f"{indent}RELEASE inner_one;")

    for number, step in enumerate(program["steps"]):
        if step["kind"] == "write":
            lines.append("BEGIN IMMEDIATE;")
            write(step["body"], "  ")
            lines.append("COMMIT;" if step["end"] == "commit" else "ROLLBACK;")
        elif step["kind"] == "raw":
            write(step["body"], "")
        elif step["kind"] == "read":
            lines.append(f"{step['sql']};")
        elif step["kind"] == "count":
            lines.append(f"SELECT COUNT(*) FROM {step['name']};  -- fetchCount")
        else:
            lines.append(f"-- {step['kind']} {step.get('name', '')}".rstrip())
        if failure and number == failure.step: lines.append(f"-- ^ {failure.kind}: {failure.words}")
    return "\n".join(lines)
