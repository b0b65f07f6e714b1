public import Coffer
import Dispatch

/// A scheduler for observations that counts completed deliveries.
///
/// The event `didReceiveValue` occurs after a value has been fetched and mapped, but before it is delivered.
/// A test that depends on the delivery has to wait for it here.
public final class DeliveryCounter: ValueObservationScheduler {
    private let queue = DispatchQueue(label: "DeliveryCounter")
    private let deliveries = ValueLog<Void>()

    public init() {}

    public func immediateInitialValue() -> Bool { false }

    public func schedule(_ action: @escaping @Sendable () -> Void) {
        queue.async { [deliveries] in
            action()
            deliveries.append(())
        }
    }

    /// Waits until `count` values have been delivered since the beginning.
    public func deliveries(count: Int) async {
        await deliveries.values(count: count)
    }
}
