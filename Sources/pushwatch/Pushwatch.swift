@main enum Pushwatch { static func main() {} }
