import KeyMaterial
import SQLCipherBridge
import Testing

@Suite("HKDF")
struct HKDFTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let secret: [UInt8]
        let salt: [UInt8]
        let info: [UInt8]
        let result: String
    }

    private static let vectors = [
        Vector(
            testDescription: "A.1, basic", secret: [UInt8](repeating: 0x0b, count: 22),
            salt: Array(0x00...0x0c), info: Array(0xf0...0xf9),
            result: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Vector(
            testDescription: "A.2, longer", secret: Array(0x00...0x4f), salt: Array(0x60...0xaf),
            info: Array(0xb0...0xff),
            result: "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
                + "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"),
        Vector(
            testDescription: "A.3, no salt and no info", secret: [UInt8](repeating: 0x0b, count: 22),
            salt: [], info: [],
            result: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ]

    @Test("RFC 5869 with SHA-256", arguments: vectors)
    func known(_ vector: Vector) throws {
        let result = try HKDF.derive(
            from: SecretBytes(vector.secret), salt: vector.salt, info: vector.info,
            count: vector.result.count / 2)
        #expect(Self.hex(result) == vector.result)
    }

    @Test("a shorter result is the beginning of a longer one, up to the maximum")
    func sizes() throws {
        let secret = [UInt8](repeating: 7, count: 32)
        let longest = Self.hex(
            try HKDF.derive(from: SecretBytes(secret), info: [1], count: HKDF.maximumCount))
        #expect(longest.count == 2 * 8160)
        for count in [1, 31, 32, 33, 64, 65, 8159] {
            let result = try HKDF.derive(from: SecretBytes(secret), info: [1], count: count)
            #expect(Self.hex(result) == longest.prefix(2 * count))
        }
    }

    private static func hex(_ secret: borrowing SecretBytes) -> String {
        secret.withUnsafeBytes { bytes in
            unsafe bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}
