/// The name that programs for GRDB use for Swift's own protocol, whose metatypes can be sent to other
/// threads.
public typealias GRDBSendableMetatype = SendableMetatype
