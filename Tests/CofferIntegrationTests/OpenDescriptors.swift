import CofferTestSupport
import Foundation

/// The paths that the descriptors of this process are open on, some of them several times.
func openDescriptors() -> [String] {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // The descriptor of the listing itself is gone by now.
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
}

/// How many descriptors are open on a file.
func openDescriptors(of path: String) -> Int { openDescriptors().count { $0 == path } }

/// How many descriptors are open on files of a directory, also on such that were removed.
func openFiles(in directory: TestDirectory) -> Int { openDescriptors().count { $0.hasPrefix(directory.path) } }
