// ProviderSimulator
