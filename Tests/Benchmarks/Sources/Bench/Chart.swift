import Foundation

/// A bar chart of the ratios to the C loop, on a logarithmic scale, as SVG.
struct Chart {
    var series: [Series]

    var svg: String {
        let bars = series.compactMap { series -> (title: String, coffer: Double, grdb: Double?)? in
            guard series.workload.unit != .memory, let coffer = series.ratio(.coffer, to: .c)?.median else {
                return nil
            }
            return (series.workload.title, coffer, series.ratio(.grdb, to: .c)?.median)
        }
        let rowHeight = 34.0
        let left = 330.0
        let width = 560.0
        let most = max(bars.flatMap { [$0.coffer, $0.grdb ?? 1] }.max() ?? 1, 10)
        func length(_ ratio: Double) -> Double {
            max(log(max(ratio, 0.5) / 0.5) / log(most / 0.5) * width, 1)
        }
        var lines: [String] = []
        for (index, bar) in bars.enumerated() {
            let top = 50 + Double(index) * rowHeight
            lines.append(
                #"<text x="\#(left - 10)" y="\#(top + 18)" text-anchor="end">\#(escape(bar.title))</text>"#)
            lines.append(contentsOf: rect(top + 3, length(bar.coffer), "#2f6f8f", "Coffer", bar.coffer, left))
            if let grdb = bar.grdb {
                lines.append(contentsOf: rect(top + 16, length(grdb), "#c9a24b", "GRDB", grdb, left))
            }
        }
        let height = 70 + Double(bars.count) * rowHeight
        let one = left + length(1)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(left + width + 130)" height="\(height)" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            <text x="10" y="22" font-size="15">Time as a multiple of the C loop on the same encrypted data \
            (logarithmic)</text>
            <line x1="\(one)" y1="35" x2="\(one)" y2="\(height - 10)" stroke="#888" stroke-dasharray="3 3"/>
            <text x="\(one)" y="46" text-anchor="middle" fill="#666">1</text>
            \(lines.joined(separator: "\n"))
            </svg>

            """
    }

    private func rect(
        _ top: Double, _ length: Double, _ color: String, _ name: String, _ ratio: Double, _ left: Double
    ) -> [String] {
        [
            #"<rect x="\#(left)" y="\#(top)" width="\#(length)" height="11" fill="\#(color)"/>"#,
            #"<text x="\#(left + length + 5)" y="\#(top + 10)" font-size="10">\#(name) \#(String(format: "%.2f", ratio))</text>"#,
        ]
    }

    private func escape(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
