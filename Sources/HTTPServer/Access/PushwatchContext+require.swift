extension PushwatchContext {
    /// The caller, or 401.
    package func requireCaller() throws(Problem) -> Caller {
        guard let caller else { throw .unauthenticated() }
        return caller
    }

    /// Lets the request on if the caller has the scope; else 401 or 403 with the scope's name.
    @discardableResult
    package func require(_ scope: Scope) throws(Problem) -> Caller {
        let caller = try requireCaller()
        guard caller.scopes.contains(scope) else { throw .missingScope(scope) }
        return caller
    }

    /// The app user's id; 401 without a caller, 403 for API keys and sessions, which act for nobody in particular.
    package func requireUser() throws(Problem) -> String {
        guard let userId = try requireCaller().userId else {
            throw .forbidden("This call is made by an app user. Send the user's own token instead of an API key.")
        }
        return userId
    }
}
