import CofferTestSupport
import Foundation
import Testing

// For tests of permissions. The superuser, under whom the tests run in a container, has all permissions, so
// they continue as another user.

/// True if a test of the superuser can continue as another user in the temporary directory, because all
/// parent folders are accessible to others.
var othersReachTemporaryDirectory: Bool {
    var folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    while getuid() == 0, folder.path != "/" {
        guard let mode = mode(folder.path), mode & 0o001 != 0 else { return false }
        folder.deleteLastPathComponent()
    }
    return true
}

/// Runs `body` without superuser rights. Call this only in an exit test, because it affects the whole
/// process.
func asOrdinaryUser(_ body: () throws -> Void) throws {
    let isRoot = getuid() == 0
    if isRoot { try #require(setegid(65534) == 0 && seteuid(65534) == 0) }
    defer { if isRoot { _ = (seteuid(0), setegid(0)) } }
    try body()
}

func setMode(_ path: String, _ mode: UInt32) {
    _ = unsafe chmod(path, mode)
}

func mode(_ path: String) -> UInt32? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}
