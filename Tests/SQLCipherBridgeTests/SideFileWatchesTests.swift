import SystemCalls
import Testing

@testable import SQLCipherBridge

@Suite("Watches of side files")
struct SideFileWatchesTests {
    private final class Keys {}

    private let keys = Keys()

    private func watch(_ database: FileIdentity) -> SideFileWatch {
        SideFileWatch(
            judge: { _, _, _ in true }, owner: ObjectIdentifier(keys), isReadOnly: false, database: database,
            report: { _ in })
    }

    @Test("the users of a WAL are the watched connections that have set it")
    func usersOfLog() throws {
        let (file, log) = (FileIdentity(device: 1, inode: 2), FileIdentity(device: 1, inode: 3))
        var watches = SideFileWatches()
        for database in 1...3 as ClosedRange<UInt> { watches.insert(watch(file), database) }
        #expect(watches.users(ofLog: log).isEmpty)
        watches.setLog((log, 100), of: 1)
        watches.setLog((log, 200), of: 2)
        watches.setLog((log, 300), of: 4)
        #expect(watches.users(ofLog: log).compactMap(\.log?.address).sorted() == [100, 200])
        #expect(watches[4] == nil && watches[3]?.log == nil)

        // A connection that could not be closed is watched again, with its log.
        let found = watches.remove(2)
        let removed = try #require(found)
        #expect(watches.users(ofLog: log).count == 1)
        watches.insert(removed, 2)
        #expect(watches.users(ofLog: log).count == 2)

        watches.setLog(nil, of: 1)
        #expect(watches.users(ofLog: log).compactMap(\.log?.address) == [200])
        // Another connection got the address.
        watches.insert(watch(file), 2)
        #expect(watches.users(ofLog: log).isEmpty && watches.users(ofLog: file).isEmpty)
        let unknown = watches.remove(5)
        #expect(unknown == nil)
    }
}
