@testable import CofferCLI

/// Swift Testing has an `ExitStatus` of its own.
typealias ToolStatus = CofferCLI.ExitStatus
