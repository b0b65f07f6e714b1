import Foundation

/// The memory of the process in bytes; 0 on systems without `/proc`.
public enum Memory {
    /// The peak resident size so far.
    public static var peak: Int { sum(["VmHWM"], in: "/proc/self/status") }

    /// The resident size.
    public static var resident: Int { sum(["VmRSS"], in: "/proc/self/status") }

    /// The resident memory that is private to this process.
    public static var own: Int { sum(["Private_Clean", "Private_Dirty"], in: "/proc/self/smaps_rollup") }

    private static func sum(_ names: Set<Substring>, in file: String) -> Int {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return 0 }
        return text.split(separator: "\n").reduce(0) { sum, line in
            guard let colon = line.firstIndex(of: ":"), names.contains(line[..<colon]) else { return sum }
            let kibibytes = line[colon...].split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
            return sum + kibibytes * 1024
        }
    }
}
