// Attempts
