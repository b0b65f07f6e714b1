import Testing

@testable import CofferCLI

@Suite("Text for people")
struct TextTests {
    @Test("numbers, sizes and times are short")
    func numbers() {
        #expect(TextLayout.grouped(0) == "0")
        #expect(TextLayout.grouped(-1_234_567) == "-1,234,567")
        #expect(TextLayout.size(999) == "999 bytes")
        #expect(TextLayout.size(4_931_584) == "4.9 MB")
        #expect(TextLayout.size(9_960_000) == "10 MB")
        #expect(TextLayout.size(999_600_000) == "1.0 GB")
        #expect(TextLayout.seconds(.milliseconds(1234)) == "1.2 s")
        #expect(TextLayout.seconds(.seconds(125)) == "2 min 5 s")
        #expect(TextLayout.seconds(.seconds(7265)) == "2 h 1 min")
    }

    @Test("a message hides text that looks like a raw key, a recovery key or an identity")
    func hiddenKeys() {
        let (key, long) = (String(repeating: "0aF9", count: 16), String(repeating: "5e", count: 48))
        let hidden = "(64 digits that look like a key)"
        #expect(
            HiddenKeys.hiding(in: "The key file '\(key)' cannot be opened")
                == "The key file '\(hidden)' cannot be opened")
        #expect(
            HiddenKeys.hiding(in: key) == hidden
                && HiddenKeys.hiding(in: "x'\(key)'=\(key),") == "x'\(hidden)'=\(hidden),")
        for (before, after) in [("--", ""), ("-", "."), ("0x", ""), ("", "-"), ("see ", ". Then")] {
            #expect(HiddenKeys.hiding(in: before + key + after) == before + hidden + after)
        }
        #expect(HiddenKeys.hiding(in: "--key=\(long)") == "--key=(96 digits that look like a key)")
        let groups = "M9S3-46Q3-D25V-T4F5-V37E-3S3E-28JT-X0YH-7KPA-N5B1-QW8R-ZC6D-G2MJ-04TV"
        let place = "(characters that look like a recovery key)"
        #expect(HiddenKeys.hiding(in: "'\(groups)', \(groups)") == "'\(place)', \(place)")
        #expect(HiddenKeys.hiding(in: "\(groups) \(groups)") == place)
        let digits = groups.replacing("-", with: "")
        func grouped(by size: Int, _ separator: String = " ") -> String {
            digits.enumerated().map { $0 > 0 && $0 % size == 0 ? separator + String($1) : String($1) }
                .joined()
        }
        var forms = [" ", "", "\t", "  ", "\n", "\r\n", " - ", "\u{a0}", "\u{2013}"].map {
            separator in
            groups.replacing("-", with: separator)
        }
        forms +=
            [1, 2, 3, 5, 8, 20, 28].map { grouped(by: $0) } + [grouped(by: 8, "-"), groups.lowercased()]
        forms += [
            groups.replacing("-", with: " ", maxReplacements: 7),
            groups.replacing("-", with: "", maxReplacements: 1),
        ]
        // With errors.
        forms += [
            String(groups.dropLast()), String(groups.dropFirst()), groups + "X", String(digits.dropLast()),
        ]
        forms += [
            String(groups.dropLast(5)), groups.replacing("46Q3", with: "46*3"),
            groups.replacing("9", with: ""),
        ]
        for form in forms {
            for (before, after) in [
                ("", "' cannot"), ("--", ""), ("/a/", "."), ("to ", ", "), ("", " cannot"),
            ] {
                #expect(
                    HiddenKeys.hiding(in: before + form + after) == "\(before)\(place)\(after)",
                    "\(before)\(form)\(after)")
            }
        }
        let identity = "coffer-identity-1-" + String(repeating: "0a", count: 36)
        for name in [identity, "file:\(identity)", "file:/a/\(identity.uppercased()).x"] {
            let text = HiddenKeys.hiding(in: "The key '\(name)' is missing")
            #expect(text.contains("look like an identity"), "\(text)")
            #expect(!text.lowercased().contains("0a0a"), "\(text)")
        }
        for option in ["-k", "--key-"] {
            #expect(!HiddenKeys.hiding(in: "Unknown option '\(option)\(key)'").contains(key))
        }
        // The first and the last groups have no digit.
        let letters = "aztk-yezh-zq9q-65sk-m0xk-zt1r-xrdr-q34g-wnd7-5q9z-aj5f-10vy-taem-jqrv"
        for form in [letters, letters.replacing("9q-65", with: "9q=-65"), letters.replacing("-", with: " ")] {
            #expect(HiddenKeys.hiding(in: "The file '\(form)' does not") == "The file '\(place)' does not")
        }
        for shown in [
            "/backup/\(key).db", "\(key).key", "\(key)0",
            String(key.dropLast()), "g" + key.dropFirst(), String(repeating: "word ", count: 14),
            "2024-11-01 12:30:05 6ba7b810-9dad-11d1-80b4-00c04fd430c8", "rows 1234 2345 3456 4567 5678",
            "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f.db",
            "this file will have been made with other keys than that from 2023 when they were",
            "2021 2022 2023 2024 2025 2026 2027 2028 2029 2030 2031 2032 2033 2034 2035 2036",
            "ü \n", "",
        ] {
            #expect(HiddenKeys.hiding(in: shown) == shown)
        }
    }

    @Test("a bar fits each width", arguments: 10...120)
    func bars(width: Int) {
        for completed in [0, 1, 499, 1000] as [Int64] {
            let state = ProgressState(
                path: "/srv/app/orders.db", phase: "copying", completed: completed, total: 1000, unit: "pages"
            )
            #expect(state.bar(width: width).count < max(width, 14))
        }
    }

    @Test("a log gets one line in each interval, for all files and phases")
    func throttleOfLogs() {
        var throttle = ProgressThrottle(patience: .seconds(30), interval: .seconds(60), isForLog: true)
        let start = ContinuousClock.now
        let shown = (0..<300).filter { second in
            let state = ProgressState(
                path: "f\(second / 2)", phase: second % 2 == 0 ? "a" : "b", completed: 1, total: 9,
                unit: "pages")
            return throttle.shouldShow(state, at: start + .seconds(second))
        }
        #expect(shown == [30, 90, 150, 210, 270])
    }

    @Test("progress is shown after a while, not too often, and at each change of the phase")
    func throttle() {
        var throttle = ProgressThrottle(patience: .milliseconds(500), interval: .milliseconds(100))
        let start = ContinuousClock.now
        func state(_ phase: String, _ completed: Int64) -> ProgressState {
            ProgressState(path: "a", phase: phase, completed: completed, total: 9, unit: "pages")
        }
        let steps: [(String, Int64, Int)] = [
            ("copying", 0, 0), ("copying", 1, 499), ("copying", 2, 500), ("copying", 3, 599),
            ("verifying", 0, 599), ("verifying", 3, 699),
            ("verifying", 3, 2699),
        ]
        let shown = steps.map { phase, completed, time in
            throttle.shouldShow(state(phase, completed), at: start + .milliseconds(time))
        }
        #expect(shown == [false, false, true, false, true, true, false])
    }

    @Test("several exit codes are combined into one")
    func tally() {
        var tally = StatusTally()
        #expect(tally.status == .done)
        tally.add(.busy)
        tally.add(.busy)
        #expect(tally.status == .busy)
        tally.add(.done)
        #expect(tally.status == .someFailed)
    }
}
