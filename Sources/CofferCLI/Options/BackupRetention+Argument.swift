internal import ArgumentParser
internal import Coffer

extension DatabaseFile.BackupRetention {
    static func parsed(_ text: String) throws -> DatabaseFile.BackupRetention {
        guard let retention = DatabaseFile.BackupRetention(text) else {
            throw ValidationError(
                "'\(text)' is not valid for --keep: give numbers with h, d, w, m or y, such as 7d,4w,6m.")
        }
        return retention
    }
}
