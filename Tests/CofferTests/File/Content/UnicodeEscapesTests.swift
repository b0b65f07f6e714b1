import Testing

@testable import Coffer

@Suite("The escapes of unistr")
struct UnicodeEscapesTests {
    private func decode(_ text: String) -> [UInt8]? { UnicodeEscapes(Array(text.utf8)).decoded }

    @Test(
        "each form of an escape is its character",
        arguments: [
            (#"a\\b"#, #"a\b"#), (#"\0041"#, "A"), (#"\u0041\u00e9"#, "Aé"), (#"\+01F600"#, "\u{1f600}"),
            (#"\U0001f600"#, "\u{1f600}"), (#"x\u000Ay"#, "x\ny"), ("", ""), ("é漢", "é漢"),
            (#"\00411"#, "A1"), (#"\\u0041"#, #"\u0041"#),
        ])
    func forms(text: String, result: String) { #expect(decode(text) == Array(result.utf8)) }

    @Test(
        "anything else after a backslash is malformed",
        arguments: [
            #"\"#, #"a\"#, #"\x41"#, #"\u41"#, #"\U0001f60"#, #"\+1F600"#, #"\004g"#, #"\'"#, #"\ 041"#,
            #"\u 041"#, #"\+-1F600"#,
        ])
    func malformed(text: String) { #expect(decode(text) == nil) }

    @Test("code points that are not characters are encoded as SQLite encodes them")
    func surrogates() {
        #expect(decode(#"\ud83d\ude00"#) == [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80])
        #expect(decode(#"\u0000"#) == [0])
        #expect(decode(#"\UFFFFFFFF"#) == [0xf7, 0xbf, 0xbf, 0xbf])
    }

    @Test("bytes that are not UTF-8 stay, and a byte of zero ends the search for escapes")
    func bytes() {
        #expect(UnicodeEscapes([0xff, 0x5c, 0x5c, 0xfe]).decoded == [0xff, 0x5c, 0xfe])
        #expect(UnicodeEscapes([0x61, 0, 0x5c]).decoded == [0x61, 0, 0x5c])
    }
}
