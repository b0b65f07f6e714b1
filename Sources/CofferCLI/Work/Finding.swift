/// The result of one check, with advice.
struct Finding {
    /// The keyword of the check, for scripts.
    let check: String
    var path: String?
    let words: String
    /// The recommended action, or nil if all is well.
    var advice: String?

    /// True if only the developers of the program can fix the problem. The operator of the machine cannot, so
    /// the exit code stays 0.
    var isWarning = false

    var isToMend: Bool { advice != nil && !isWarning }

    func tell(_ reporter: Reporter) {
        let place = path ?? check
        var lines = ["\(advice == nil ? "good" : isWarning ? "warn" : "FIX ")  \(place): \(words)"]
        if let advice { lines.append("      \(advice)") }
        reporter.result(
            [
                "check": check, "path": path, "good": advice == nil, "warning": isWarning, "finding": words,
                "advice": advice,
            ], text: lines, isAnswer: isToMend)
    }
}
