import Coffer

extension Row {
    /// The values of the row, for comparison with an array.
    var valueArray: [DatabaseValue] { Array(databaseValues) }
}
