import CofferTestSupport
import Foundation

/// Returns the paths of the open descriptors of this process. A path may occur several times.
func openDescriptors() -> [String] {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // By now, the descriptor of the listing itself is closed.
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
}

/// Returns the descriptors that every run of `body` leaves open.
///
/// The system's libraries occasionally open or close descriptors of their own when they are first used. A
/// second run does not repeat that. A leak occurs in every run.
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

/// Returns the number of descriptors that are open on a file.
func openDescriptors(of path: String) -> Int { openDescriptors().count { $0 == path } }

/// Returns the number of descriptors that are open on files of a directory, including removed files.
func openFiles(in directory: TestDirectory) -> Int {
    openDescriptors().count { $0.hasPrefix(directory.path) }
}
