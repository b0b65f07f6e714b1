// The C functions of the engine under the module name of GRDB, for packages that say `import GRDBSQLite`.
@_exported public import CSQLCipher
