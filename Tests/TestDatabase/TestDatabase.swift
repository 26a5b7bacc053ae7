// TestDatabase
