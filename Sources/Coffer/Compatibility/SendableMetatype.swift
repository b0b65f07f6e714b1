/// A type whose metatype may be sent to other threads: the name that programs for GRDB use for Swift's own
/// protocol.
public typealias GRDBSendableMetatype = SendableMetatype
