internal import Glibc
internal import KeyMaterial
internal import SystemCalls

/// A prompt at the terminal, which does not echo the answer.
enum KeyPrompt {
    /// Prompts for a key. A new key is asked for twice, because a mistyped key would make the file
    /// inaccessible.
    static func read(_ request: KeyRequest, subject: String) throws(Failure) -> SecretBytes {
        let (noun, option) = (noun(request), option(request))
        let advice =
            request.origin.name.map {
                "\($0) prompts at a terminal, and this run has none. Give another source, such as \(option) "
                    + "file:PATH"
            }
            ?? "No \(noun) was given, and there is no terminal for a prompt. Give one with \(option) "
            + "file:PATH or another source"
        let terminal = try open(orSay: advice + ": see 'coffer help keys'.")
        let form =
            switch request.use {
            case .key(.raw): " (64 hexadecimal digits)"
            case .key(.rawWithSalt): " (96 hexadecimal digits)"
            default: ""
            }
        let words = noun.prefix(1).uppercased() + noun.dropFirst() + (request.role == .new ? " for" : " of")
        let first = try ask("\(words) \(subject)\(form): ", on: terminal)
        guard request.role == .new else { return first }
        let second = try ask("Repeat it: ", on: terminal)
        guard first == second else {
            throw Failure(.badData, "confirmation_mismatch", "The two entries differ. Nothing was changed.")
        }
        return first
    }

    private static func noun(_ request: KeyRequest) -> String {
        switch (request.role, request.use) {
        case (_, .unlocking(.recovery)): "recovery key"
        case (.current, _): "key"
        case (.previous, _): "previous key"
        case (.new, _): "new key"
        }
    }

    /// Returns the option that asked for the prompt, or that would have named another source.
    private static func option(_ request: KeyRequest) -> String {
        if let name = request.origin.name, name.hasPrefix("--") { return name }
        return request.role == .current && request.opensKeyring ? "--unlock" : request.role.option
    }

    private static func open(orSay words: String) throws(Failure) -> Descriptor {
        do throws(Errno) {
            return try Descriptor(opening: "/dev/tty", O_RDWR)
        } catch {
            throw Failure.usage(words)
        }
    }

    private static func ask(_ question: String, on terminal: borrowing Descriptor) throws(Failure)
        -> SecretBytes
    {
        let answer = try TerminalEcho.off(on: terminal.number) { () throws(Failure) -> SecretBytes in
            try say(TextLayout.harmless(question), on: terminal)
            guard let answer = try SecretInput.readLine(terminal, name: "The terminal") else {
                throw Failure.usage("No key was entered.")
            }
            return answer
        }
        // The return key was not echoed either.
        try say("\n", on: terminal)
        return answer
    }

    private static func say(_ text: String, on terminal: borrowing Descriptor) throws(Failure) {
        try Failure.explaining("The terminal cannot be written to") { () throws(Errno) in
            try terminal.write(text)
        }
    }
}
