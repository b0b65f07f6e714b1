import SQLCipherBridge
import Testing

@Suite("The version of the engine")
struct EngineVersionTests {
    @Test("an engine of the same version as the headers is accepted")
    func same() throws {
        try Engine.checkVersion(3_046_001, compiledFor: 3_046_001, hasCipher: true)
        #expect(Engine.sqliteVersionNumber == Engine.compiledSQLiteVersionNumber)
        #expect(Engine.hasCompileOption("HAS_CODEC"))
    }

    @Test("an SQLCipher of another version than the headers is refused, and both versions are named")
    func otherVersion() {
        let error = #expect(throws: EngineError.self) {
            try Engine.checkVersion(3_053_004, compiledFor: 3_046_001, hasCipher: true)
        }
        #expect(error != .withoutCipher)
        #expect(error?.message?.contains("SQLite 3.53.4") == true)
        #expect(error?.message?.contains("SQLite 3.46.1") == true)
    }

    @Test("a library of another version that is not SQLCipher is refused as such")
    func otherLibrary() {
        #expect(throws: EngineError.withoutCipher) {
            try Engine.checkVersion(3_040_001, compiledFor: 3_046_001, hasCipher: false)
        }
    }
}
