import SystemCalls
import Testing

@Suite("Parts of paths")
struct PathBytesTests {
    /// Marks that are one character with the letter before or after them.
    @Test(
        "a combining mark next to a slash or a hyphen does not hide it",
        arguments: ["", "\u{600}", "\u{301}", "é"])
    func marks(_ mark: String) throws {
        #expect("a/\(mark)b".folder == "a" && "a/\(mark)b".lastComponent.utf8.elementsEqual("\(mark)b".utf8))
        #expect("/\(mark)b".folder == "/" && "/\(mark)b".begins(withBytesOf: "/"))
        #expect("b\(mark)".folder == "." && "b\(mark)".lastComponent.utf8.elementsEqual("b\(mark)".utf8))
        #expect("b\(mark)-wal".ends(inBytesOf: "-wal") && !"b-wal\(mark)x".ends(inBytesOf: "-wal"))
        let name = try #require("b\(mark).keys".without(ending: ".keys"))
        #expect(name.utf8.elementsEqual("b\(mark)".utf8) && "b\(mark)".without(ending: ".keys") == nil)
    }

    @Test("canonically equivalent names with different bytes are different")
    func normalForms() {
        #expect(!"a\u{e9}".ends(inBytesOf: "e\u{301}") && !"\u{e9}a".begins(withBytesOf: "e\u{301}"))
    }
}
