internal import Foundation
internal import Glibc
internal import KeyMaterial

/// A credential that systemd passes to a service. See systemd.exec(5), `LoadCredential=` and
/// `LoadCredentialEncrypted=`.
enum Credential {
    static func read(_ name: String) throws(Failure) -> SecretBytes {
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/") else {
            throw Failure.usage("'\(name)' is not a valid name of a credential.")
        }
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty
        else {
            throw Failure(
                .inputMissing, "missing",
                "There are no credentials: CREDENTIALS_DIRECTORY is not set. Run coffer from a systemd unit "
                    + "with LoadCredential=\(name):..."
            )
        }
        // The mode is not checked: systemd grants access with an ACL, which appears as group permissions.
        return try KeyFile.read(
            "\(folder)/\(name)", name: "The credential '\(name)'", .unchecked, followsLinks: false)
    }
}
