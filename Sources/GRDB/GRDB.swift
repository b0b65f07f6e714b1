// Coffer's API under GRDB's module name, for packages that use `import GRDB`. A SwiftPM mirror resolves their
// dependency to this package: see the article MovingFromGRDB.
@_exported public import Coffer
