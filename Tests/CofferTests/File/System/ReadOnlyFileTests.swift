import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("A file that this user may not write to")
struct ReadOnlyFileTests {
    @Test("is reported as read-only, not as in use")
    func readOnly() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let file = try directory.makeFile(rows: 2)
            try #require(unsafe chmod(file.path, 0o444) == 0)
            // The superuser may write to every file.
            if getuid() == 0 {
                for path in [directory.path, file.path] {
                    try #require(unsafe chown(path, 65534, 65534) == 0)
                }
                try #require(setgid(65534) == 0 && setuid(65534) == 0)
            }
            var inPlace = DatabaseFile.RotationOptions()
            inPlace.method = .inPlace
            let works: [() throws -> Void] = [
                { try file.rotate(from: Keys.old, to: Keys.new) },
                { try file.rotate(from: Keys.old, to: Keys.new, options: inPlace) },
                { try file.vacuum(key: Keys.old) },
            ]
            for work in works {
                let error = #expect(throws: DatabaseFileError.self) { try work() }
                guard case .engine(.SQLITE_READONLY, _) = error?.reason else {
                    Issue.record("\(error as Any)")
                    continue
                }
            }
            #expect(directory.fileNames() == ["a.db"])
            #expect(try file.verify(key: Keys.old).isIntact)
        }
    }
}
