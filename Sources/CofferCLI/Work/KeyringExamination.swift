internal import Coffer
internal import SystemCalls

/// Examines the file at the path of a database's keyring.
struct KeyringExamination {
    let path: String
    private let status: FileStatus
    private let database: String
    private let databaseStatus: FileStatus

    /// - Returns: nil if no database has its keyring at the path.
    init?(_ path: String, _ status: FileStatus) {
        guard let database = path.without(ending: ".keys"),
            let databaseStatus = try? FileStatus(database), databaseStatus.isRegular
        else { return nil }
        (self.path, self.status, self.database, self.databaseStatus) = (
            path, status, database, databaseStatus
        )
    }

    var findings: [Finding] {
        guard status.isRegular else {
            return [
                finding(
                    "is not a regular file, so it is not used as the keyring of "
                        + FileNames.name(of: database),
                    advice: "Move it away, or put the keyring itself there.")
            ]
        }
        return content + access
    }

    private var content: [Finding] {
        guard let keyring = KeyringFacts(of: database) else { return [] }
        if let damage = keyring.damage { return [finding(damage, advice: keyring.advice)] }
        let opened = DatabaseKeyring(databasePath: database)
        if (try? opened.isOfDatabase()) == false {
            if opened.isBeingMade {
                return [
                    finding(
                        "was made for the database by a run that is active or was interrupted",
                        advice: "If no run is active, run the same command again: it completes or removes it."
                    )
                ]
            }
            return [
                finding(
                    "belongs to another database than \(FileNames.name(of: database)), or the first page of "
                        + "that one is damaged",
                    advice:
                        "Put the right one there with 'coffer key restore-header' after moving this one to "
                        + "its database, which may not open without it.")
            ]
        }
        guard (try? opened.inspect().isRotating) == true else { return [] }
        return [
            finding(
                "has two data keys: a rotation is active or was interrupted",
                advice: "If no rotation is active, run 'coffer key rotate' again.")
        ]
    }

    private var access: [Finding] {
        guard status.userID == databaseStatus.userID else {
            return [
                finding(
                    "belongs to user \(status.userID), and the database to user \(databaseStatus.userID)",
                    advice: "Give both to the user whose programs open the database.")
            ]
        }
        guard status.mode & 0o077 != 0 else { return [] }
        let others = status.mode & 0o022 != 0 ? "write to it" : "copy it, and try secrets on the copy"
        return [
            finding(
                "others can \(others) (mode \(String(status.mode & 0o7777, radix: 8)))",
                advice: "Run 'chmod 600' on it.")
        ]
    }

    private func finding(_ words: String, advice: String) -> Finding {
        Finding("keyring", of: path, words, advice: advice)
    }
}
