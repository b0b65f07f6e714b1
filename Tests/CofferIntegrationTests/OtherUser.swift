import CofferTestSupport
import Foundation
import Testing

// Tests of permissions: the superuser, who runs them in a container, may do everything, and goes on as
// somebody else.

/// Whether a test of the superuser can go on as another user in its temporary directory: each folder above
/// lets others pass.
var othersReachTemporaryDirectory: Bool {
    var folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    while getuid() == 0, folder.path != "/" {
        guard let mode = mode(folder.path), mode & 0o001 != 0 else { return false }
        folder.deleteLastPathComponent()
    }
    return true
}

/// Runs `body` without the rights of the superuser. To be called in an exit test: it concerns the whole
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
