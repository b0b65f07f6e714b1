/// How long tests wait before they give up.
///
/// It is there so that a test which hangs fails in the end. No test is about it: what it waits for may take
/// as long as a machine with too much to do needs.
public enum Patience {
    /// For one wait.
    public static let seconds = 300.0

    /// For one test, as in `.timeLimit(.minutes(Patience.minutes))`. A test that waits in vain has failed
    /// before.
    public static let minutes = 10
}
