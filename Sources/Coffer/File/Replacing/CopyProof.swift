internal import SQLCipherBridge

/// What every copy has to prove, however it was made, before it takes a place: on a fresh connection, beside its source.
struct CopyProof {
    let source: ConnectionHandle
    let copy: ConnectionHandle
    let path: String

    func prove(_ job: ReplacementJob, _ comparison: CopyComparison, progress: ProgressReport) throws -> ReplacementProof {
        let copyFile = try PageFile(copy, job.after)
        let pageCount = try Int(fact("page_count", of: copy)) ?? 0
        guard copyFile.excess == 0, copyFile.pageCount == pageCount else {
            throw DatabaseFileError(.copyRejected("its size is not that of \(pageCount) pages"), path: path)
        }
        for name in ["user_version", "application_id", "encoding", "auto_vacuum"] {
            let (old, new) = try (fact(name, of: source), fact(name, of: copy))
            guard old == new else { throw DatabaseFileError(.copyRejected("its \(name) is \(new) instead of \(old)"), path: path) }
        }
        guard try schema(of: source) == schema(of: copy) else {
            throw DatabaseFileError(.copyRejected("its schema is another one"), path: path)
        }
        // The content is equal, so that the source has what is found.
        guard try (comparison.structure ?? StructureCheck.quick.findings(copy, progress: progress)).isEmpty else {
            throw DatabaseFileError(.damaged(pages: []), path: path)
        }
        let before = try salt(of: source, job.before)
        let after = try salt(of: copy, job.after)
        return try ReplacementProof(
            pageCount: pageCount, pageSize: copyFile.pageSize, saltBefore: before?.salt, saltAfter: after?.salt,
            oldKeyID: before?.keyID, newKeyID: after?.keyID,
            contentDigest: KeyedDigest.text(of: comparison.digest, after: after?.material, before: before?.material))
    }

    private func fact(_ name: String, of handle: ConnectionHandle) throws(EngineError) -> String {
        try handle.firstText(trusted: "PRAGMA main.\(name)") ?? ""
    }

    private func schema(of handle: ConnectionHandle) throws(EngineError) -> String? {
        try handle.firstText(
            trusted: """
                SELECT count(*) || char(10) || ifnull(group_concat(type || char(10) || name || char(10) || tbl_name || char(10) || ifnull(sql, ''),
                    char(10)), '')
                FROM (SELECT * FROM sqlite_master ORDER BY type, name)
                """)
    }

    private func salt(
        of handle: ConnectionHandle, _ protection: FileProtection
    ) throws -> (salt: [UInt8], keyID: String, material: KeyRing.Material)? {
        let header = try FileHeader(handle)
        guard let material = try protection.material(fileSalt: header.salt) else { return nil }
        let salt = material.salt ?? header.salt
        return try (salt, KeyIdentifier.text(of: material, salt: salt), material)
    }
}
