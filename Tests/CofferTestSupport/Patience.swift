/// The time that tests wait before they give up.
///
/// It exists only so that a test that hangs fails eventually. No test measures it: on an overloaded machine,
/// an event may take as long as it needs.
public enum Patience {
    /// The limit for one wait.
    public static let seconds = 300.0

    /// The limit for one test, as in `.timeLimit(.minutes(Patience.minutes))`. A test that waits in vain
    /// fails before that.
    public static let minutes = 10
}
