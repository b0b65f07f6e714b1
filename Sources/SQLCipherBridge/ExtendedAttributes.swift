internal import CSQLCipher
internal import Glibc

/// The extended attributes of a file, in which Linux keeps access control lists too.
package enum ExtendedAttributes {
    /// A call of the system that failed; 0 for a file system without attributes is no failure.
    package struct Failure: Error, Sendable, Equatable {
        package let call: String
        package let errno: CInt
        /// The attribute that it was about.
        package let name: String?
    }

    /// The names of the attributes that this process can see.
    package static func names(of path: String) throws(Failure) -> [String] {
        while true {
            let size = unsafe coffer_list_attributes(path, nil, 0)
            if size < 0 && errno == ENOTSUP { return [] }
            guard size >= 0 else { throw Failure(call: "llistxattr", errno: errno, name: nil) }
            guard size > 0 else { return [] }
            var bytes = [CChar](repeating: 0, count: size)
            let count = unsafe coffer_list_attributes(path, &bytes, size)
            // Another process may have added one between the two calls.
            if count < 0 && errno == ERANGE { continue }
            guard count >= 0 else { throw Failure(call: "llistxattr", errno: errno, name: nil) }
            return bytes.prefix(count).split(separator: 0).map {
                String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
    }

    package static func value(of name: String, at path: String) throws(Failure) -> [UInt8] {
        try unsafe value(of: name, named: path)
    }

    /// - Parameter path: as a string of C, which need not be text.
    static func value(of name: String, named path: UnsafePointer<CChar>) throws(Failure) -> [UInt8] {
        while true {
            let size = unsafe coffer_get_attribute(path, name, nil, 0)
            guard size >= 0 else { throw Failure(call: "lgetxattr", errno: errno, name: name) }
            var bytes = [UInt8](repeating: 0, count: max(size, 1))
            let count = unsafe coffer_get_attribute(path, name, &bytes, size)
            if count < 0 && errno == ERANGE { continue }
            guard count >= 0 else { throw Failure(call: "lgetxattr", errno: errno, name: name) }
            return Array(bytes.prefix(count))
        }
    }

    /// Gives an attribute to the file of an open descriptor: a name could lead to another file by now.
    package static func set(_ name: String, to value: [UInt8], descriptor: CInt) throws(Failure) {
        guard unsafe coffer_set_attribute(descriptor, name, value, value.count) == 0 else {
            throw Failure(call: "fsetxattr", errno: errno, name: name)
        }
    }

    /// Takes an attribute from the file of an open descriptor, if it has it.
    package static func remove(_ name: String, descriptor: CInt) throws(Failure) {
        guard unsafe coffer_remove_attribute(descriptor, name) == 0 || [ENODATA, ENOTSUP].contains(errno)
        else {
            throw Failure(call: "fremovexattr", errno: errno, name: name)
        }
    }
}
