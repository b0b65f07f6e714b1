import CofferTestSupport
import Testing

@testable import CofferCLI

@Suite("A file that gets its name when it is complete")
struct NewFileTests {
    let directory: TestDirectory
    private let path: String

    init() throws {
        directory = try TestDirectory()
        path = directory.path("a.sql")
    }

    @Test(
        "has no name until it is published",
        .enabled(
            if: TestDirectory.hasUnnamedFiles,
            "the temporary directory does not support files without names"))
    func unnamed() throws {
        let file = try NewFile(path, comesWhole: true)
        try file.write(bytes: Array("SELECT 1;".utf8))
        #expect(directory.fileNames() == [])
        try file.publish()
        #expect(directory.fileNames() == ["a.sql"])
        #expect(try directory.bytes(of: "a.sql") == Array("SELECT 1;".utf8))
    }

    @Test("does not replace an existing file with its name")
    func taken() throws {
        let file = try NewFile(path, comesWhole: true)
        try directory.write([1], to: "a.sql")
        let failure = #expect(throws: Failure.self) { try file.publish() }
        #expect(failure?.reason == "output_exists")
        file.remove()
        #expect(directory.fileNames() == ["a.sql"])
        #expect(try directory.bytes(of: "a.sql") == [1])
    }

    @Test("leaves nothing if it is removed")
    func removed() throws {
        let file = try NewFile(path, comesWhole: true)
        try file.write(bytes: [1])
        file.remove()
        withExtendedLifetime(file) {}
        #expect(directory.fileNames() == [])
    }
}
