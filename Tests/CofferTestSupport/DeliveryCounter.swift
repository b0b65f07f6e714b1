public import Coffer
import Dispatch

/// A scheduler of observations that tells how many deliveries are over.
///
/// The event `didReceiveValue` comes when a value is fetched and mapped, which is before it is delivered: a
/// test that relies on the delivery has to wait for it here.
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

    /// Waits until so many values have been delivered since the beginning.
    public func deliveries(count: Int) async {
        await deliveries.values(count: count)
    }
}
