import Foundation

@testable import CofferCLI

/// The shape of each line of `--json`, version 1. The output must not contain anything else.
enum Schema {
    /// Returns the violations in the output. The result is empty if the output is valid.
    static func problems(_ result: Tool.Result) throws -> [String] {
        let objects = try result.objects
        var problems = objects.compactMap { object in problem(with: object).map { "\($0): \(object)" } }
        let types = objects.compactMap { $0["type"] as? String }
        if types.last != "summary" || types.filter({ $0 == "summary" }).count != 1 {
            problems.append("the summary is not last: \(types)")
        }
        if let start = types.firstIndex(of: "start"), start != 0 { problems.append("the start is not first") }
        if types.filter({ $0 == "start" }).count > 1 { problems.append("there are several starts") }
        if objects.last?["code"] as? Int32 != result.status {
            problems.append("code \(objects.last?["code"] ?? "none") for exit code \(result.status)")
        }
        return problems
    }

    private static func problem(with object: [String: Any]) -> String? {
        guard object["schema"] as? Int == 1 else { return "schema" }
        guard let type = object["type"] as? String, let command = object["command"] as? String else {
            return "no type or no command"
        }
        guard let shapes = type == "result" ? results[command] : shapes[type] else {
            return "unknown type or command"
        }
        let members = object.filter { !["schema", "type", "command"].contains($0.key) }
        let findings = shapes.map { $0.problem(with: members) }
        // One of the shapes has to match.
        return findings.contains(nil) ? nil : findings.last ?? "no shape"
    }

    // MARK: Shapes

    private enum Kind: String {
        case bool, count, number, text, texts, counts, object, optionalCount, optionalText, optionalBool,
            optionalNumber, code, values,
            optionalTexts

        func fits(_ value: Any) -> Bool {
            switch self {
            case .bool: value is Bool
            case .count: (value as? Int).map { $0 >= 0 } ?? false
            case .number: value is Double
            case .text: value is String
            case .texts: value is [String]
            case .counts: (value as? [Int])?.allSatisfy { $0 >= 0 } ?? false
            case .object: (value as? [String: Int])?.values.allSatisfy { $0 >= 0 } ?? false
            case .optionalCount: value is NSNull || Kind.count.fits(value)
            case .optionalText: value is NSNull || value is String
            case .optionalBool: value is NSNull || value is Bool
            case .optionalNumber: value is NSNull || value is Double
            case .code: (value as? Int32).map { ToolStatus(rawValue: $0) != nil } ?? false
            case .values: value is [Any]
            case .optionalTexts: value is NSNull || value is [String]
            }
        }
    }

    private struct Shape {
        let required: [String: Kind]
        var optional: [String: Kind] = [:]

        func problem(with members: [String: Any]) -> String? {
            if let missing = required.keys.filter({ members[$0] == nil }).min() { return "no \(missing)" }
            for (name, value) in members {
                guard let kind = required[name] ?? optional[name] else {
                    return "\(name) is not in the schema"
                }
                guard kind.fits(value) else { return "\(name) is no \(kind.rawValue)" }
            }
            return nil
        }
    }

    private static let shapes: [String: [Shape]] = [
        "start": [Shape(required: [:], optional: ["files": .texts, "dry_run": .bool])],
        "progress": [
            Shape(required: [
                "path": .text, "phase": .text, "completed": .count, "total": .count, "unit": .text,
                "fraction": .number,
                "rate": .optionalNumber,
                "seconds_left": .optionalNumber, "elapsed_seconds": .number,
            ])
        ],
        "error": [
            Shape(required: ["code": .code, "reason": .text, "message": .text], optional: ["path": .text])
        ],
        "summary": [
            Shape(
                required: [
                    "results": .count, "failures": .count, "failure_codes": .object, "elapsed_ms": .count,
                    "code": .code,
                ],
                optional: [
                    "files": .count, "done": .count, "changed": .count, "failed": .count,
                    "done_before": .count, "not_begun": .count,
                    "opened_by_no_key": .count, "done_unrecorded": .count, "bytes": .count, "groups": .object,
                    "reasons": .object,
                ])
        ],
    ]

    private static let results: [String: [Shape]] = {
        let plan: [String: Kind] = [
            "path": .text, "dry_run": .bool, "changed": .bool, "size": .count, "required_space": .count,
            "available_space": .count,
            "steps": .texts, "leftovers": .texts, "code": .code,
        ]
        let done: [String: Kind] = ["path": .text, "changed": .bool, "resumed": .bool, "code": .code]
        let proof: [String: Kind] = [
            "pages": .count, "salt_before": .optionalText, "salt_after": .optionalText,
            "old_key_id": .optionalText,
            "new_key_id": .optionalText, "content_digest": .text, "kept_old": .text,
        ]
        let rotationProof: [String: Kind] = [
            "old_key_rejected": .bool, "new_key_accepted": .bool, "integrity_clean": .bool,
            "content_equal": .bool,
        ]
        let rotation = [
            Shape(
                required: done.merging(["seconds": .number]) { $1 },
                optional: proof.merging(rotationProof) { $1 }),
            Shape(
                required: plan.merging(["already_rotated": .bool, "method": .text, "pages": .count]) { $1 }),
        ]
        let rows: [String: Kind] = ["tables": .count, "rows": .count]
        let before: [String: Kind] = ["pages_before": .count, "free_pages_before": .count]
        let conversion = [
            Shape(
                required: done, optional: proof.merging(rows) { $1 }.merging(["destination": .text]) { $1 }),
            Shape(
                required: plan.merging(["already_done": .bool, "format": .optionalCount]) { $1 },
                optional: ["destination": .text]),
        ]
        let pruning = Shape(
            required: [
                "path": .text, "dry_run": .bool, "changed": .bool, "kept": .count, "removed": .texts,
                "unproved": .texts, "future": .texts, "stray_keyrings": .texts,
                "code": .code,
            ])
        let dated = Shape(required: [
            "path": .text, "database": .text, "place": .text, "time": .text, "size": .count,
            "keyring": .optionalText, "unproved": .optionalText,
        ])
        let vacuum = conversion.map {
            Shape(required: $0.required.merging(before) { $1 }, optional: $0.optional)
        }
        let verification = [
            Shape(
                required: [
                    "path": .text, "intact": .bool, "changed": .bool, "pages": .count,
                    "pages_from_log": .count, "trailing_bytes": .count,
                    "unread_transactions": .count,
                    "authenticated": .bool,
                    "damaged_pages": .counts, "findings": .texts, "content_findings": .texts, "code": .code,
                    "opened_by": .text,
                    "key_id": .optionalText,
                ],
                optional: [
                    "site_key_id": .text, "keyring": .text, "keyring_slots": .optionalCount,
                    "keyring_damage": .optionalText,
                ])
        ]
        let query = [
            Shape(required: ["columns": .texts, "values": .values], optional: ["statement": .count]),
            Shape(
                required: ["changed": .bool, "code": .code],
                optional: ["dry_run": .bool, "rows_changed": .count, "statement": .count]),
        ]
        let skipped = [Shape(required: ["path": .text, "changed": .bool, "skipped": .bool, "code": .code])]
        let facts: [String: Kind] = [
            "path": .text, "kind": .text, "size": .count, "mode": .text, "uid": .count, "gid": .count,
            "companions": .object, "code": .code,
        ]
        let more: [String: Kind] = [
            "page_size": .count, "page_size_guessed": .bool, "page_count": .count, "free_pages": .count,
            "format": .optionalCount,
            "kdf_iterations": .count, "authenticated": .bool, "journal_mode": .text, "auto_vacuum": .text,
            "encoding": .text,
            "user_version": .number, "application_id": .number, "tables": .texts, "salt": .text,
            "links": .count, "leftovers": .texts, "keyring": .text, "keyring_slots": .optionalCount,
            "keyring_damage": .optionalText,
            "as_expected": .bool, "opened_by": .text, "key_id": .optionalText, "site_key_id": .text,
        ]
        return [
            "create": [
                Shape(
                    required: ["path": .text, "changed": .bool, "code": .code], optional: ["dry_run": .bool])
            ],
            "info": [Shape(required: facts, optional: more)],
            "verify": verification,
            "rotate": rotation,
            "encrypt": conversion, "decrypt": conversion, "backup": conversion + [pruning, dated],
            "upgrade": conversion, "vacuum": vacuum,
            "restore": conversion,
            "recover": [
                Shape(required: [
                    "path": .text, "destination": .text, "changed": .bool, "complete": .bool, "pages": .count,
                    "damaged_pages": .counts,
                    "missing_pages": .count, "tables": .values, "lost_and_found_rows": .count,
                    "unassigned_pages": .counts,
                    "problems": .texts, "code": .code,
                ])
            ],
            "diff": [
                Shape(required: [
                    "table": .text, "change": .text, "columns": .texts, "before": .optionalTexts,
                    "after": .optionalTexts,
                ]),
                Shape(required: [
                    "path": .text, "other": .text, "same": .bool, "settings": .values, "objects": .values,
                    "tables": .values, "code": .code,
                ]),
            ],
            "erase": [
                Shape(
                    required: ["path": .text, "changed": .bool, "files": .texts, "code": .code],
                    optional: ["dry_run": .bool])
            ],
            "keygen": [Shape(required: ["path": .text, "key_type": .text, "bits": .count, "code": .code])],
            "query": query,
            "schema": [Shape(required: ["kind": .text, "name": .text, "table": .text, "sql": .text])],
            "dump": [
                Shape(required: [
                    "path": .text, "destination": .text, "changed": .bool, "tables": .count, "rows": .count,
                    "code": .code,
                ])
            ],
            "load": [
                Shape(required: [
                    "path": .text, "changed": .bool, "tables": .count, "rows": .count,
                    "same_as_dumped": .optionalBool, "code": .code,
                ])
            ],
            "import": [
                Shape(required: [
                    "path": .text, "table": .text, "changed": .bool, "rows": .count, "ignored": .count,
                    "refused": .count, "code": .code,
                ])
            ],
            "doctor": [
                Shape(required: [
                    "check": .text, "path": .optionalText, "good": .bool, "warning": .bool, "finding": .text,
                    "advice": .optionalText,
                ])
            ],
            "health": [
                Shape(required: [
                    "work": .optionalText, "target": .optionalText, "good": .bool, "finding": .optionalText,
                    "last_success": .optionalCount,
                    "last_run": .optionalCount, "files": .optionalCount, "failed_files": .optionalCount,
                ])
            ],
            "batch info": [Shape(required: facts, optional: more)] + skipped,
            "batch rotate": rotation + skipped,
            "batch encrypt": conversion + skipped, "batch decrypt": conversion + skipped,
            "batch upgrade": conversion + skipped,
            "batch vacuum": vacuum + conversion + skipped, "batch backup": conversion + [pruning] + skipped,
            "batch query": query.map {
                Shape(required: $0.required.merging(["path": .text]) { $1 }, optional: $0.optional)
            } + skipped,
            "audit find-key": [
                Shape(required: ["path": .text, "certainty": .text, "time": .text, "last_command": .text])
            ],
            "batch verify": verification + skipped,
            "audit verify": [
                Shape(required: [
                    "path": .text, "records": .count, "torn_lines": .count, "keyed": .bool,
                    "last_hash": .text, "code": .code,
                ])
            ],
            "coffer": [
                Shape(required: ["version": .text, "sqlcipher": .text, "sqlite": .text, "crypto": .text])
            ],
        ]
    }()
}
