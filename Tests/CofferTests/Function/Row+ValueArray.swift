import Coffer

extension Row {
    /// The values of the row, to be compared with an array.
    var valueArray: [DatabaseValue] { Array(databaseValues) }
}
