struct TimeLimitExceeded: Error, CustomStringConvertible {
    let limit: Duration
    var description: String { "the test was not done after \(limit)" }
}

/// Used by a child task, which this one outlives.
private struct CurrentTask: @unchecked Sendable {
    private let task = withUnsafeCurrentTask { $0 }

    func cancel() { task?.cancel() }
}

/// Cancels `body` after this time, and fails.
func withTimeLimit<T>(_ limit: Duration, _ body: () async throws -> T) async throws -> T {
    let task = CurrentTask()
    let result = await withTaskGroup(of: Bool.self) { watch -> Result<T, any Error> in
        watch.addTask {
            guard (try? await Task.sleep(for: limit)) != nil else { return false }
            task.cancel()
            return true
        }
        let result: Result<T, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        watch.cancelAll()
        // A test that ends with `CancellationError` would not fail.
        return await watch.next() == true ? .failure(TimeLimitExceeded(limit: limit)) : result
    }
    return try result.get()
}
