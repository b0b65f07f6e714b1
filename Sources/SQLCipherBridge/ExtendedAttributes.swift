internal import CSQLCipher
internal import Glibc

/// The extended attributes of a file, which also include access control lists on Linux.
package enum ExtendedAttributes {
    /// A failed system call. It is not a failure if the file system does not support attributes.
    package struct Failure: Error, Sendable, Equatable {
        package let call: String
        package let errno: CInt
        /// The attribute in question.
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
            // Another process may have added an attribute between the two calls.
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

    /// - Parameter path: a C string, which need not be valid UTF-8.
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

    /// Sets an attribute of the file of an open descriptor. A path could lead to another file in the
    /// meantime.
    package static func set(_ name: String, to value: [UInt8], descriptor: CInt) throws(Failure) {
        guard unsafe coffer_set_attribute(descriptor, name, value, value.count) == 0 else {
            throw Failure(call: "fsetxattr", errno: errno, name: name)
        }
    }

    /// Removes an attribute from the file of an open descriptor, if it exists.
    package static func remove(_ name: String, descriptor: CInt) throws(Failure) {
        guard unsafe coffer_remove_attribute(descriptor, name) == 0 || [ENODATA, ENOTSUP].contains(errno)
        else {
            throw Failure(call: "fremovexattr", errno: errno, name: name)
        }
    }
}
