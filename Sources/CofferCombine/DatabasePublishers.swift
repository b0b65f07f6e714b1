public import Coffer
public import OpenCombine

/// A namespace for the OpenCombine publishers of databases and observations.
public enum DatabasePublishers {}

extension AnyDatabaseCancellable: Cancellable {}
