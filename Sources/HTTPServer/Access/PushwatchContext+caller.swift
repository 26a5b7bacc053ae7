/// For handlers of routes that need a caller. Whether the caller may call the route was decided before the handler runs (`RouteAccess`).
extension PushwatchContext {
    /// The caller, or 401.
    package func requireCaller() throws(Problem) -> Caller {
        guard let caller else { throw .unauthenticated() }
        return caller
    }

    /// The app user's id; 401 without a caller, 403 for API keys and sessions, which act for no user.
    package func requireUser() throws(Problem) -> String {
        guard let userId = try requireCaller().userId else { throw .userRequired() }
        return userId
    }
}
