import Foundation
import Glibc
import SystemCalls
import Testing

@Suite("Texts of the kernel")
struct KernelTextTests {
    @Test("a text that is longer than a page is read to its end")
    func whole() throws {
        // Each mapping has its own line, because neighbors with equal attributes would be merged.
        let (count, size) = (400, 8192)
        let memory = unsafe mmap(nil, count * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        defer { unsafe munmap(memory, count * size) }
        let start = UInt(bitPattern: memory)
        for number in 0..<count {
            let page = unsafe UnsafeMutableRawPointer(bitPattern: start + UInt(number * size))
            try #require(unsafe mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
        }
        let text = try #require(KernelText.read("/proc/self/maps"))
        let lines = text.split(separator: "\n")
        for number in [1, count / 2, count - 1] {
            let address = String(start + UInt(number * size), radix: 16)
            #expect(lines.contains { $0.hasPrefix("\(address)-") || $0.hasPrefix("0\(address)-") })
        }
        #expect(text.contains("[stack]"))
    }

    @Test("an empty text is empty, and one that cannot be read is nil")
    func others() {
        #expect(KernelText.read("/dev/null")?.isEmpty == true)
        #expect(KernelText.read("/proc/self/none") == nil)
        #expect(KernelText.read("/proc") == nil)
        #expect(KernelText.command(ofProcess: -1) == nil)
    }

    @Test("a process is known by the name of its program")
    func command() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["1000"]
        try process.run()
        defer {
            // A remaining process would keep the output of the tests open.
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        // Before it calls exec, the process has the name of this one.
        while KernelText.command(ofProcess: process.processIdentifier) != "sleep" {
            try #require(process.isRunning)
        }
    }
}
