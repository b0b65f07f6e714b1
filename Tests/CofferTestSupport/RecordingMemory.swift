package import KeyMaterial
import Synchronization

/// Keeps the memory of secrets mapped after their deallocation, so that a test can read it.
package final class RecordingMemory: Sendable {
    /// A block of memory. The address is a number, because the memory is allocated here and never freed.
    private struct Block {
        let start: UInt
        let count: Int
    }

    package init() {}

    private let blocks = Mutex<(live: [UInt: Int], released: [Block])>(([:], []))

    package var allocator: SecretAllocator {
        unsafe SecretAllocator(
            allocate: { count in
                let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
                let start = UInt(bitPattern: memory)
                self.blocks.withLock { $0.live[start] = count }
                return unsafe memory
            },
            release: { memory, count in
                let block = Block(start: UInt(bitPattern: memory), count: count)
                self.blocks.withLock {
                    $0.live[block.start] = nil
                    $0.released.append(block)
                }
            })
    }

    package var liveCount: Int { blocks.withLock { $0.live.count } }

    /// The content of the memory that secrets have released.
    package var released: [[UInt8]] {
        blocks.withLock { $0.released.map { RecordingMemory.bytes(at: $0.start, count: $0.count) } }
    }

    /// The content of the memory of live secrets.
    package var live: [[UInt8]] {
        blocks.withLock { $0.live.map { RecordingMemory.bytes(at: $0.key, count: $0.value) } }
    }

    private static func bytes(at start: UInt, count: Int) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: count))
    }

    package func recording<Result>(_ body: () throws -> Result) rethrows -> Result {
        try SecretAllocator.$current.withValue(allocator, operation: body)
    }
}
