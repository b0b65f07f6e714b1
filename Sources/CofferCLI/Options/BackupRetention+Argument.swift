internal import ArgumentParser
internal import Coffer

extension DatabaseFile.BackupRetention {
    static func parsed(_ text: String) throws -> DatabaseFile.BackupRetention {
        guard let retention = DatabaseFile.BackupRetention(text) else {
            throw ValidationError(
                "give each number with a unit (h, d, w, m or y), as in 7d for seven days. 7d,4w,6m keeps the "
                    + "newest of seven days, four weeks and six months.")
        }
        return retention
    }
}
