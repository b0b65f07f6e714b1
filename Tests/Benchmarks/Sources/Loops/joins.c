#include "joins.h"
#include "loops.h"
#include "support.h"

typedef struct {
    int64_t id, town_id;
    char *name;
} owner;

typedef struct {
    int64_t id, owner_id;
    char *name;
    double price;
} item;

// Columns: id, ownerId, name, price.
static int64_t read_item(sqlite3_stmt *statement, int column, item *i) {
    int length;
    i->id = sqlite3_column_int64(statement, column);
    i->owner_id = sqlite3_column_int64(statement, column + 1);
    i->name = copy_text(statement, column + 2, &length);
    i->price = sqlite3_column_double(statement, column + 3);
    return i->id + i->owner_id + length + (int64_t)(i->price * 4);
}

// Columns: id, townId, name.
static int64_t read_owner(sqlite3_stmt *statement, int column, owner *o) {
    int length;
    o->id = sqlite3_column_int64(statement, column);
    o->town_id = sqlite3_column_int64(statement, column + 1);
    o->name = copy_text(statement, column + 2, &length);
    return o->id + o->town_id + length;
}

int64_t loop_join(sqlite3 *db, const char *sql, int64_t capacity) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, sql);
    struct { item item; owner owner; } *rows = malloc(16 * sizeof *rows);
    int64_t sum = 0, count = 0, room = 16;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (count == room) rows = realloc(rows, (size_t)(room *= 2) * sizeof *rows);
        sum += read_item(statement, 0, &rows[count].item) + read_owner(statement, 4, &rows[count].owner);
        count++;
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    for (int64_t i = 0; i < count; i++) {
        free(rows[i].item.name);
        free(rows[i].owner.name);
    }
    free(rows);
    return count == capacity ? sum : -1;
}

typedef struct {
    owner owner;
    item *items;
    int64_t count, room;
} family;

// The owners are sorted by key.
static family *find_family(family *families, int64_t count, int64_t id) {
    int64_t low = 0;
    while (count > 0) {
        int64_t half = count / 2;
        if (families[low + half].owner.id < id) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return &families[low];
}

int64_t loop_prefetch(sqlite3 *db, int64_t last, int64_t capacity) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, "SELECT * FROM owner WHERE id <= ?");
    sqlite3_bind_int64(statement, 1, last);
    family *families = malloc(16 * sizeof *families);
    int64_t sum = 0, count = 0, room = 16, items = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (count == room) families = realloc(families, (size_t)(room *= 2) * sizeof *families);
        families[count] = (family){0};
        sum += read_owner(statement, 0, &families[count++].owner);
    }
    sqlite3_finalize(statement);

    const char *head = "SELECT * FROM item WHERE ownerId IN (?";
    char *sql = malloc(strlen(head) + 2 * (size_t)count + 2), *end = sql + strlen(head);
    strcpy(sql, head);
    for (int64_t i = 1; i < count; i++, end += 2) memcpy(end, ",?", 2);
    strcpy(end, ")");
    statement = prepare(db, sql);
    free(sql);
    for (int64_t i = 0; i < count; i++) sqlite3_bind_int64(statement, (int)i + 1, families[i].owner.id);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        item i;
        sum += read_item(statement, 0, &i);
        family *f = find_family(families, count, i.owner_id);
        if (f->count == f->room) f->items = realloc(f->items, (size_t)(f->room = f->room ? 2 * f->room : 16) * sizeof *f->items);
        f->items[f->count++] = i;
        items++;
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < families[i].count; j++) free(families[i].items[j].name);
        free(families[i].items);
        free(families[i].owner.name);
    }
    free(families);
    return items == capacity ? sum : -1;
}

int64_t loop_counts(sqlite3 *db, const char *sql, int64_t capacity) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, sql);
    struct { owner owner; int64_t count; } *rows = malloc(16 * sizeof *rows);
    int64_t sum = 0, count = 0, room = 16;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (count == room) rows = realloc(rows, (size_t)(room *= 2) * sizeof *rows);
        sum += read_owner(statement, 0, &rows[count].owner);
        sum += rows[count++].count = sqlite3_column_int64(statement, 3);
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    for (int64_t i = 0; i < count; i++) free(rows[i].owner.name);
    free(rows);
    return count == capacity ? sum : -1;
}

int64_t loop_join_keys(sqlite3 *db, const char *sql, int64_t rows, int64_t count) {
    loop_execute(db, "BEGIN");
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        item i;
        owner o;
        int length;
        sqlite3_bind_int64(statement, 1, (index * 7919) % rows + 1);
        if (sqlite3_step(statement) != SQLITE_ROW) fail(db, "no such item");
        sum += read_item(statement, 0, &i) + read_owner(statement, 4, &o) + sqlite3_column_int64(statement, 7);
        char *town = copy_text(statement, 8, &length);
        sum += length;
        free(i.name);
        free(o.name);
        free(town);
        if (sqlite3_step(statement) != SQLITE_DONE) fail(db, "more than one item");
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    loop_execute(db, "COMMIT");
    return sum;
}
