public import Coffer
import Foundation

/// A temporary directory for one test. It is removed with its content when it is deallocated, even if the
/// test fails.
///
/// Swift may deallocate an object after its last use, in the middle of a function. Store the directory in a
/// property of the suite, which lives as long as the test function runs, or use ``withTestDirectory(_:)``.
public final class TestDirectory: Sendable {
    public let path: String

    public init() throws {
        _ = TestDirectory.removeThoseOfDeadProcesses
        let name = "\(TestDirectory.prefix)\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
        let url = TestDirectory.parent.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    private static let prefix = "coffer-test-"
    private static let parent = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()

    /// Removes the directories of dead processes. Tests that expect a process to end, for example by a failed
    /// precondition, leave them behind.
    private static let removeThoseOfDeadProcesses: Void = {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        where name.hasPrefix(prefix) {
            guard let owner = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }),
                kill(owner, 0) == -1,
                errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
    }()

    /// True if the file system of such directories supports files without names (`O_TMPFILE`).
    public static let hasUnnamedFiles: Bool = {
        let descriptor = unsafe open(parent.path, 0o20_000_000 | O_DIRECTORY | O_RDWR, 0o600)
        close(descriptor)
        return descriptor >= 0
    }()

    /// Returns the path of a file in the directory, which may not exist.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Returns the sorted names of all files, including those in subfolders.
    public func fileNames() -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
            return attributes?[.type] as? FileAttributeType != .typeDirectory
        }.sorted()
    }

    public func bytes(of name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Returns the content of all files.
    public func snapshotOfFiles() throws -> [String: [UInt8]] {
        try Dictionary(uniqueKeysWithValues: fileNames().map { try ($0, bytes(of: $0)) })
    }

    public func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    public func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }
}

/// Runs `body` with a directory that exists until `body` returns.
public func withTestDirectory<Result>(_ body: (TestDirectory) throws -> Result) throws -> Result {
    let directory = try TestDirectory()
    return try withExtendedLifetime(directory) { try body(directory) }
}

/// Runs `body` with a directory that exists until `body` returns.
public func withTestDirectory<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TestDirectory) async throws -> Result
) async throws -> Result {
    let directory = try TestDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try await body(directory)
}

// MARK: - Databases in the directory

extension TestDirectory {
    /// Makes a queue on a file of the directory, by default with a raw key, which needs no key derivation.
    public func makeQueue(_ name: String = "a.db", _ configuration: Configuration = .rawKeyed) throws
        -> DatabaseQueue
    {
        try DatabaseQueue(path: path(name), configuration: configuration)
    }

    /// Makes a pool on a file of the directory, by default with a raw key, which needs no key derivation.
    public func makePool(_ name: String = "a.db", _ configuration: Configuration = .rawKeyed) throws
        -> DatabasePool
    {
        try DatabasePool(path: path(name), configuration: configuration)
    }

    /// Makes a queue or a pool on a file of the directory, by default with a raw key, which needs no key
    /// derivation.
    public func make(
        _ access: Access, _ name: String = "a.db", _ configuration: Configuration = .rawKeyed
    ) throws -> any DatabaseWriter {
        switch access {
        case .queue: try makeQueue(name, configuration)
        case .pool: try makePool(name, configuration)
        }
    }
}
