// Access
