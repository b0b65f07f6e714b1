import Testing

@testable import CofferCLI

@Suite("Words of a key command")
struct CommandWordsTests {
    @Test("quotes and backslashes keep words together, and nothing is expanded")
    func splitting() throws {
        #expect(try CommandWords.split("pass show db/key") == ["pass", "show", "db/key"])
        #expect(
            try CommandWords.split("  a\t'b c'  \"d \\\" e\\n\" f\\ g ''") == [
                "a", "b c", "d \" e\\n", "f g", "",
            ])
        #expect(try CommandWords.split("a'b'\"c\"d") == ["abcd"])
        #expect(try CommandWords.split("echo $HOME * `id` > x") == ["echo", "$HOME", "*", "`id`", ">", "x"])
    }

    @Test(
        "a quoted word is split into the same word, and a plain word is not quoted",
        arguments: ["a.db", "./A-9_z", "", " ", "it's", "a;b", "$HOME", "é", "'", "[x]", "{a", "@`"])
    func quoting(word: String) throws {
        let quoted = CommandWords.quoted(word)
        #expect((quoted == word) == (word == "a.db" || word == "./A-9_z"))
        #expect(try CommandWords.split("x " + quoted) == ["x", word])
    }

    @Test(
        "an open quote, a last backslash and nothing at all are usage errors",
        arguments: ["a 'b", "a \"b", "a \\", "", "  ", "''"])
    func mistakes(text: String) {
        #expect(throws: Failure.self) { try CommandWords.split(text) }
    }
}
