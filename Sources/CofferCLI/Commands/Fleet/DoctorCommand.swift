internal import ArgumentParser

struct DoctorCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "doctor [<path>...] [options]",
        abstract: "Check a machine, and folders of databases and keys, for problems.",
        discussion: """
            Checks the engine, its age and known faults, the random generator, the limit of locked memory, \
            and core dumps, and shows the default sources of secrets and where each comes from. With folders \
            or files, also checks who can read keys, write to databases and \
            rename files, and looks for databases without encryption, under any name, and for leftovers of \
            interrupted runs, such as keyrings without their backups, and for damaged keyrings. Shows how to \
            fix each problem, and the files that it could not check. Changes nothing, needs no key, and \
            follows no links. Exit code 1 if there is something to fix; warnings, which only the builder of \
            this program can fix, do not count.

            EXAMPLES
              coffer doctor
              coffer doctor /srv/app /etc/coffer
            """)

    @Argument(help: "Files, and folders with all their content.", completion: .file())
    var paths: [String] = []

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var readsDefaults: Bool { false }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start(["files": paths])
        var findings = try MachineExamination.findings() + Defaults.findings
        for path in paths {
            try FileNames.checkReadable(path)
            findings += try FolderExamination(path: path) { try session.interruption.check() }.findings()
        }
        for (index, finding) in findings.enumerated() {
            finding.tell(session.reporter, before: findings.dropFirst(index + 1).first)
        }
        let count = findings.count(where: \.isToMend)
        let warnings = findings.count(where: \.isWarning)
        session.reporter.note(
            (count == 0 ? "nothing to fix" : "\(counted: count, "problem") to fix")
                + (warnings == 0 ? "" : ", \(counted: warnings, "warning")"))
        return count == 0 ? .done : .answerIsNo
    }
}
