public import Coffer

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// The publishers of databases and observations.
///
/// They are those of Combine where the system has it, and of OpenCombine elsewhere.
public enum DatabasePublishers {}

extension AnyDatabaseCancellable: Cancellable {}
