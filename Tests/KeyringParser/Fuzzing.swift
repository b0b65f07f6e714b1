#if DEBUG
import Foundation
import SQLCipherBridge
import Synchronization

@testable import Coffer

/// The parser under libFuzzer, which searches for texts that reach more of its code.
///
/// A fuzzer cannot find the checksum of a text. Therefore each input is parsed as a file, and also as one
/// copy of a keyring without its last line, with the correct checksum.
enum Fuzzing {
    #if FUZZER
    /// - Returns: the exit code.
    static func run(corpus: String) throws -> CInt {
        try FileManager.default.createDirectory(atPath: corpus, withIntermediateDirectories: true)
        let examination = try Examination()
        defer { examination.end() }
        let file = examination.forgery.file
        for (name, bytes) in [("file", file), ("text", withoutCheckSum(file))] {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(corpus)/\(name)"))
        }
        Fuzzing.examination.withLock { $0 = examination }
        // The first argument is the name of the program, and the rest are the corpus and options.
        var count = CommandLine.argc - 1
        var arguments = unsafe CommandLine.unsafeArgv + 1
        return unsafe runDriver(&count, &arguments, examineInput)
    }

    private static func withoutCheckSum(_ file: [UInt8]) -> [UInt8] {
        Array(file.prefix(file.count / 2).dropLast("check \n".utf8.count + 64))
    }

    fileprivate static let examination = Mutex<Examination?>(nil)

    fileprivate static func examine(_ input: [UInt8]) {
        examination.withLock { examination in
            examination?.examine(input)
            guard let sum = try? Digest.sha256(input) else { return }
            let text = input + Array("check \(sum.hexadecimal)\n".utf8)
            examination?.examine(text + text)
        }
    }
    #else
    static func run(corpus: String) throws -> CInt {
        fatalError("This was built without libFuzzer: see Tests/keyring-parser --fuzz.")
    }
    #endif
}

#if FUZZER
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ examine: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The name is required by the main function of libFuzzer, which is linked but never called.
@_cdecl("LLVMFuzzerTestOneInput")
func examineInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzing.examine(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
#endif
#endif
