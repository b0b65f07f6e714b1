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
        "an open quote, a last backslash and nothing at all are usage errors",
        arguments: ["a 'b", "a \"b", "a \\", "", "  ", "''"])
    func mistakes(text: String) {
        #expect(throws: Failure.self) { try CommandWords.split(text) }
    }
}
