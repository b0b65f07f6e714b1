public import Coffer
public import OpenCombine

/// The publishers of databases and observations, which are those of OpenCombine.
public enum DatabasePublishers {}

extension AnyDatabaseCancellable: Cancellable {}
