internal import Coffer

extension CipherSettings {
    /// The options that produce the settings, or nil if no options do.
    var options: String? {
        let (format, differences) = nearestFormat
        var words = ["--cipher-format \(format)"]
        for (name, value) in differences {
            switch name {
            case "pageSize": words.append("--page-size \(value)")
            case "kdfIterations": words.append("--kdf-iterations \(value)")
            case "kdfAlgorithm": words.append("--kdf-algorithm \(value.dropFirst())")
            case "hmacAlgorithm": words.append("--hmac-algorithm \(value.dropFirst())")
            case "usesHMAC" where value == "false": words.append("--hmac-algorithm none")
            case "usesHMAC": words.append("--hmac-algorithm \(hmacAlgorithm)")
            case "plaintextHeaderSize": words.append("--plaintext-header \(value)")
            default: return nil
            }
        }
        return words.joined(separator: " ")
    }
}
