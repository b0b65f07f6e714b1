// The API of Coffer under the module name of GRDB, for packages that say `import GRDB`. SwiftPM resolves
// their dependency to this package by a mirror: see the article MovingFromGRDB.
@_exported public import Coffer
