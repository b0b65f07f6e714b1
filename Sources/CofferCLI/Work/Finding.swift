/// The result of one check, with advice.
struct Finding {
    /// The keyword of the check, for scripts.
    let check: String
    let path: String?
    let words: String
    /// The recommended action, or nil if all is well.
    let advice: String?

    /// True if only the developers of the program can fix the problem. The operator of the machine cannot, so
    /// the exit code stays 0.
    let isWarning: Bool

    init(
        _ check: String, of path: String? = nil, _ words: String, advice: String? = nil,
        isWarning: Bool = false
    ) {
        self.check = check
        self.path = path
        self.words = words
        self.advice = advice
        self.isWarning = isWarning
    }

    var isToMend: Bool { advice != nil && !isWarning }

    /// - Parameter next: the next finding. Advice that it repeats is shown once, after the last warning.
    func tell(_ reporter: Reporter, before next: Finding? = nil) {
        var lines = ["\(advice == nil ? "good" : isWarning ? "warn" : "FIX ")  \(path ?? check): \(words)"]
        if let advice, !(isWarning && next?.advice == advice) { lines.append("      \(advice)") }
        reporter.result(
            [
                "check": check, "path": path, "good": advice == nil, "warning": isWarning, "finding": words,
                "advice": advice,
            ], text: lines, isAnswer: isToMend)
    }
}
