internal import Foundation
internal import Glibc
internal import KeyMaterial

/// A credential that systemd gives to a service: see systemd.exec(5), `LoadCredential=` and
/// `LoadCredentialEncrypted=`.
enum Credential {
    static func read(_ name: String) throws(Failure) -> SecretBytes {
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/") else {
            throw Failure.usage("The name of a credential has no slash: '\(name)'.")
        }
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
        else {
            throw Failure(
                .inputMissing, "missing",
                "There are no credentials: CREDENTIALS_DIRECTORY is not set. Run coffer from a systemd unit "
                    + "with LoadCredential=\(name):..."
            )
        }
        // No look at the mode: systemd gives access by an ACL, which shows as a mode for the group.
        return try KeyFile.read(
            "\(folder)/\(name)", name: "The credential '\(name)'", .unchecked, followsLinks: false)
    }
}
