@testable import CofferCLI

/// The tool's exit status. Swift Testing also has a type named `ExitStatus`.
typealias ToolStatus = CofferCLI.ExitStatus
