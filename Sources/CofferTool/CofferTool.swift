internal import CofferCLI

@main
enum CofferTool {
    static func main() {
        CommandLineTool.main()
    }
}
