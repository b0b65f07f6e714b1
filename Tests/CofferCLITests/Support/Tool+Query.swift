import CofferTestSupport
import Foundation

@testable import CofferCLI

extension Tool {
    /// `coffer query` in this process. It parses its options once for any number of statements.
    ///
    /// In a debug build, a process of the tool takes a tenth of a second to parse its options, but only
    /// milliseconds to run the statement. Use ``Tool/run(_:program:input:environment:)`` for behavior that
    /// only a process has, such as termination by a signal.
    struct Query {
        private let command: QueryCommand

        /// - Parameter options: options whose paths are absolute.
        init(_ path: String, _ options: [String]) throws {
            guard
                let command = try CommandLineTool.operation(["query", path, "-"] + options) as? QueryCommand
            else {
                throw CocoaError(.featureUnsupported)
            }
            self.command = command
        }

        func run(_ sql: String) throws -> Result {
            var command = command
            command.sql = sql
            let files = try TestDirectory()
            let names = ["output", "errors"]
            for name in names { try files.write([], to: name) }
            let handles = try names.map { try FileHandle(forWritingTo: URL(fileURLWithPath: files.path($0))) }
            let reporter = Reporter(
                command: QueryCommand.title, style: OutputStyle(command.output),
                output: OutputFile(handles[0].fileDescriptor),
                errors: OutputFile(handles[1].fileDescriptor))
            let status = command.perform(reporter)
            for handle in handles { try handle.close() }
            let texts = try names.map { try String(decoding: files.bytes(of: $0), as: UTF8.self) }
            return Result(status: status.rawValue, output: texts[0], errors: texts[1])
        }
    }
}
