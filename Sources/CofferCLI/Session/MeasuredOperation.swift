/// A command that writes the result of its run for monitors.
protocol MeasuredOperation: RecordingOperation {
    var metrics: MetricsOptions { get }
    var measuredWork: RunMetrics.Work { get }

    /// True for a dry run, which writes no metrics.
    var dryRun: Bool { get }

    /// Returns the result of the run for each of its targets. Empty if the run did no such work.
    func runs(_ meter: RunMeter, _ status: ExitStatus) -> [(target: String, run: RunMetrics.Run)]
}

extension MeasuredOperation {
    /// Writes the metrics of a completed run, if requested.
    func writeMetrics(_ status: ExitStatus, _ session: Session) throws(Failure) {
        guard let path = metrics.path, !dryRun else { return }
        let runs = runs(session.meter, status)
        guard !runs.isEmpty else { return }
        try MetricsFile(path: path).update(patience: max(1, session.lockTimeout)) { file in
            for (target, run) in runs { file.add(run, of: .init(work: measuredWork, target: target)) }
        }
    }
}

extension MeasuredOperation where Self: RecordedOperation {
    var dryRun: Bool { false }

    /// Returns the results with each file as its own target, unless the options name one target for all. A
    /// file that was not processed has the status of the run.
    func runs(_ meter: RunMeter, _ status: ExitStatus, of paths: [String]) -> [(
        target: String, run: RunMetrics.Run
    )] {
        let end = RunMetrics.now
        let runs = paths.map { path in
            let result = meter.result(of: path)
            let own = result?.status ?? status
            let run = RunMetrics.Run(
                status: own, end: end, seconds: result?.seconds ?? meter.seconds, files: 1,
                failedFiles: own == .done ? 0 : 1,
                bytes: own == .done ? FileNames.size(path) ?? 0 : 0)
            return (target: HiddenKeys.hiding(inName: FileNames.canonical(path)), run: run)
        }
        guard let target = metrics.target else { return runs }
        let run = RunMetrics.Run(
            status: status, end: end, seconds: meter.seconds, files: runs.count,
            failedFiles: runs.reduce(0) { $0 + $1.run.failedFiles },
            bytes: runs.reduce(0) { $0 + $1.run.bytes })
        return [(target, run)]
    }

    func runs(_ meter: RunMeter, _ status: ExitStatus) -> [(target: String, run: RunMetrics.Run)] {
        runs(meter, status, of: names)
    }
}
