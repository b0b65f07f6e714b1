internal import Glibc
internal import KeyMaterial

/// A question at the terminal, whose answer does not show.
enum KeyPrompt {
    /// Asks for a key; twice for a new one, which nobody could open a file with if it were mistyped.
    static func read(_ request: KeyRequest, subject: String) throws(Failure) -> SecretBytes {
        let option = request.role == .current ? "--key-file" : "--new-key-file"
        let terminal = try open(
            orSay:
                "No \(request.role == .current ? "key" : "new key") was given, and there is no terminal to "
                + "ask at. Give one with \(option) or another key option; see --help.")
        let form =
            switch request.type {
            case .passphrase: ""
            case .raw: " (64 hexadecimal digits)"
            case .rawWithSalt: " (96 hexadecimal digits)"
            }
        let first = try ask(
            "\(request.role == .current ? "Key of" : "New key for") \(subject)\(form): ", on: terminal)
        guard request.role == .new else { return first }
        let second = try ask("The same again: ", on: terminal)
        guard first == second else {
            throw Failure(.badData, "confirmation_mismatch", "The two entries differ. Nothing was changed.")
        }
        return first
    }

    private static func open(orSay words: String) throws(Failure) -> Descriptor {
        do throws(SystemError) {
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
                throw Failure.usage("No key was typed.")
            }
            return answer
        }
        // The return key was not echoed either.
        try say("\n", on: terminal)
        return answer
    }

    private static func say(_ text: String, on terminal: borrowing Descriptor) throws(Failure) {
        do throws(SystemError) {
            try terminal.write(text)
        } catch {
            throw Failure(error, "The terminal cannot be written to")
        }
    }
}
