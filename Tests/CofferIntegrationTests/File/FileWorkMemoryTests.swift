import Coffer
import CofferTestSupport
import Foundation
import Testing

/// With `COFFER_NIGHTLY=1`, uses a file of 1 GB and 64 MB of memory, otherwise 64 MB and 32 MB, about half of
/// the file.
@Suite("The memory use of work on a large file", .serialized)
struct FileWorkMemoryTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("does not grow with the file", arguments: FileWork.allCases)
    func peak(work: FileWork) throws {
        let (size, limit) = Nightly.pick((1024, 64), byDay: (64, 32))
        let path = directory.path("large.db")
        let worker = ChildProcess.built("CrashWorker")
        try #require(ChildProcess.run(worker, ["fill", path, work.before.text, "\(size)"]).status == 0)
        let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        try #require(bytes >= size * 1_000_000)
        let start = Date()
        let result = try ChildProcess.run(worker, ["weigh", path, work.rawValue])
        let growth = try #require(
            Int(result.outputText.trimmingCharacters(in: .newlines)), "\(result.errorText)")
        print(
            "\(work) of \(bytes / 1_000_000) MB: \(growth / 1024) MB of memory, \(String(format: "%.1f", Date().timeIntervalSince(start))) s"
        )
        #expect(growth < limit * 1024)
    }
}
