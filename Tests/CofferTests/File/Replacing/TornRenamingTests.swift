import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// After a power loss in the middle of a rename, some file systems may have both names: see rename(2).
@Suite("A rename interrupted by a power loss")
struct TornRenamingTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func names(_ file: DatabaseFile) -> ReplacementNames {
        ReplacementNames(path: file.path, operation: .rotate)
    }

    private func writeNote(_ file: DatabaseFile, id: RunIdentifier) throws {
        try directory.write(
            ReplacementNote(.rotate, id: id, step: "publish").encoded(), to: "a.db.rotate.json")
    }

    @Test("of a note does not keep the next run from taking it over")
    func note() throws {
        let file = try directory.makeFile()
        try writeNote(file, id: .random())
        try FileManager.default.linkItem(atPath: names(file).note, toPath: names(file).nextNote)
        #expect(try file.rotate(from: Keys.old, to: Keys.new).isResumed)
        #expect(directory.fileNames() == ["a.db"] && directory.opens(key: Keys.new))
    }

    @Test("of a copy does not keep the next run from completing it")
    func copy() throws {
        let file = try directory.makeFile()
        let id = RunIdentifier.random()
        try writeNote(file, id: id)
        try FileManager.default.linkItem(atPath: file.path, toPath: names(file).copy(id))
        // With another name that the note does not name, the file stays rejected.
        try FileManager.default.linkItem(atPath: file.path, toPath: directory.path("mine.db"))
        #expect(reason { try file.rotate(from: Keys.new, to: Keys.old) } == .unsafeFile(.hardLinks(count: 3)))
        try FileManager.default.removeItem(atPath: directory.path("mine.db"))
        // The copy has the name of the file, so the rotation was to the key that the file has.
        let result = try file.rotate(from: Keys.new, to: Keys.old)
        #expect(!result.isChanged && result.isResumed)
        #expect(directory.fileNames() == ["a.db"] && directory.opens(key: Keys.old))
    }

    @Test("of a note is not assumed if the other name is another file, or the note has a third name")
    func foreignNote() throws {
        let file = try directory.makeFile()
        try writeNote(file, id: .random())
        try FileManager.default.linkItem(atPath: names(file).note, toPath: directory.path("third"))
        #expect(reason { try file.rotate(from: Keys.old, to: Keys.new) } == .unsafeFile(.foreignNote))
        try FileManager.default.linkItem(atPath: names(file).note, toPath: names(file).nextNote)
        #expect(reason { try file.rotate(from: Keys.old, to: Keys.new) } == .unsafeFile(.foreignNote))
        #expect(directory.opens(key: Keys.old))
    }
}
