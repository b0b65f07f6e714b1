/// Which step of a replacement comes next, and what a failure of a step has to take back (I9).
///
/// The one fact that decides is whether the copy has taken the place of the file: before, everything is taken back; afterwards nothing is,
/// and what is left to do is done by the next run.
struct ReplacementState: Equatable {
    enum Step: String, CaseIterable {
        /// Looks whether the file can be replaced, and who has it open.
        case preflight
        /// Opens the file, which plays back what a process has left that ended in the middle.
        case recover
        /// Notes what is going on, and removes what an earlier run has left.
        case note
        /// Brings everything into the file, and keeps others from writing.
        case quiesce
        case copy
        case verify
        /// Makes the copy permanent, before anybody depends on it.
        case synchronize
        /// Puts the copy in the place of the file.
        case publish
        /// Makes the new name permanent.
        case persist
        /// Goes on with the new file, in the journal mode of the old one.
        case reopen
        /// Records the result, and removes the note.
        case finish
    }

    /// What is taken back, in this order.
    enum Undo: String, CaseIterable {
        case removeCopy
        /// Lets others write again, in the journal mode that the file had.
        case release
        /// Unless it is somebody else's, or still has something to say.
        case removeNote
    }

    enum Outcome: Equatable {
        case replaced
        /// An earlier run had put its copy in place; at most its leftovers were removed.
        case alreadyDone
        /// The file is as it was.
        case abandoned
        /// The copy is in place, and the step that failed is left to the next run.
        case unfinished(Step)
    }

    enum Decision: Equatable {
        case perform(Step)
        case undo(Undo)
        case end(Outcome)
    }

    private(set) var decision = Decision.perform(.preflight)
    private var isAlreadyDone = false

    /// The step that was to be performed has ended well.
    mutating func didComplete() {
        guard case .perform(let step) = decision else { return }
        decision = next(after: step)
    }

    /// The file turned out to have its new content: only leftovers remain to be seen to.
    mutating func didFindNewContent(leftovers: Bool) {
        guard decision == .perform(.recover) else { return }
        isAlreadyDone = true
        decision = leftovers ? .perform(.note) : .end(.alreadyDone)
    }

    /// The step failed. A failed `publish` means that the copy is not in its place.
    mutating func didFail() {
        guard case .perform(let step) = decision else { return }
        if isAlreadyDone {
            decision = .end(.unfinished(step))
            return
        }
        switch step {
        case .preflight, .recover: decision = .end(.abandoned)
        case .note: decision = .undo(.release)
        case .quiesce, .copy, .verify, .synchronize, .publish: decision = .undo(.removeCopy)
        case .persist, .reopen, .finish: decision = .end(.unfinished(step))
        }
    }

    mutating func didUndo() {
        guard case .undo(let undo) = decision else { return }
        decision =
            switch undo {
            case .removeCopy: .undo(.release)
            case .release: .undo(.removeNote)
            case .removeNote: .end(.abandoned)
            }
    }

    private func next(after step: Step) -> Decision {
        switch step {
        case .preflight: .perform(.recover)
        case .recover: .perform(.note)
        case .note: isAlreadyDone ? .perform(.reopen) : .perform(.quiesce)
        case .quiesce: .perform(.copy)
        case .copy: .perform(.verify)
        case .verify: .perform(.synchronize)
        case .synchronize: .perform(.publish)
        case .publish: .perform(.persist)
        case .persist: .perform(.reopen)
        case .reopen: .perform(.finish)
        case .finish: .end(isAlreadyDone ? .alreadyDone : .replaced)
        }
    }
}
