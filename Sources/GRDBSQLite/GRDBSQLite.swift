// The engine's C functions under GRDB's module name, for packages that use `import GRDBSQLite`.
@_exported public import CSQLCipher
