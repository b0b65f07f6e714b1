/// A package that is installed on this machine.
struct InstalledPackage: Equatable {
    var name: String
    var version: String
    var section: String
    var installedKibibytes: Int?
    var summary: String
    var description: String
}

/// A path that a package installed on this machine. Folders belong to many packages.
struct InstalledPath: Equatable {
    var package: String
    var path: String
}

extension InstalledPackage {
    /// Returns every installed package from dpkg's own database. The separators are control characters, which
    /// dpkg's fields never contain.
    static func all() throws -> [InstalledPackage] {
        let fields = [
            "db:Status-Status", "binary:Package", "Version", "Section", "Installed-Size", "binary:Summary",
            "Description",
        ]
        let format = fields.map { "${\($0)}" }.joined(separator: "\u{1F}") + "\u{1E}"
        return try output(of: "dpkg-query", ["--show", "--showformat", format])
            .split(separator: "\u{1E}")
            .map { record in
                record.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
            }
            .filter { $0.count == fields.count && $0[0] == "installed" }
            .map {
                InstalledPackage(
                    name: $0[1], version: $0[2], section: $0[3], installedKibibytes: Int($0[4]),
                    summary: $0[5], description: $0[6])
            }
    }
}

extension InstalledPath {
    /// Returns every path of every installed package. dpkg prints lines of the form `package, package:
    /// /path`.
    static func all() throws -> [InstalledPath] {
        try output(of: "dpkg-query", ["--search", "*"])
            .split(separator: "\n")
            .filter { !$0.hasPrefix("diversion by ") && !$0.hasPrefix("local diversion ") }
            .flatMap { line -> [InstalledPath] in
                guard let colon = line.firstRange(of: ": /") else { return [] }
                let path = String(line[line.index(colon.lowerBound, offsetBy: 2)...])
                return line[..<colon.lowerBound].split(separator: ", ").map {
                    InstalledPath(package: String($0), path: path)
                }
            }
    }
}
