import CofferTestSupport
import Foundation

/// The paths that the descriptors of this process are open on, some of them several times.
func openDescriptors() -> [String] {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // The descriptor of the listing itself is gone by now.
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
}

/// The descriptors that are left open by each run of `body`, and by each again.
///
/// The system's libraries open, or close, something of their own now and then, when they need it first: that
/// is not what a second run does, too. What leaks does so each time.
func leakedDescriptors(_ body: () throws -> Void) rethrows -> [String] {
    var leaked: [String] = []
    for _ in 0..<5 {
        let before = openDescriptors()
        try body()
        leaked = openDescriptors()
        for path in before {
            if let index = leaked.firstIndex(of: path) { leaked.remove(at: index) }
        }
        if leaked.isEmpty { break }
    }
    return leaked
}

/// How many descriptors are open on a file.
func openDescriptors(of path: String) -> Int { openDescriptors().count { $0 == path } }

/// How many descriptors are open on files of a directory, also on such that were removed.
func openFiles(in directory: TestDirectory) -> Int {
    openDescriptors().count { $0.hasPrefix(directory.path) }
}
