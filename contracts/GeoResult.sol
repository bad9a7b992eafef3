// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Decoded data of a boolean result: `contains`, `within`, `intersects`, `equals`, `disjoint`, `touches`, `crosses`, `overlaps`,
/// `covers`, `coveredBy`, or `relate` with a pattern.
struct BooleanResult {
    bool result;
    /// In the order of the request: keccak-256 of a geometry's canonical JSON, or the UID of the attestation it came from.
    bytes32[] inputRefs;
    /// Time of computation in Unix seconds, by the service's clock.
    uint256 timestamp;
    /// The name of the operation, `contains:geodesic`, `intersects:geodesic`, `within:` and the radius in centimetres, or `relate:`
    /// and the pattern.
    string operation;
}

/// Decoded data of a numeric result: `distance`, `length`, `area`.
struct NumericResult {
    /// Whole centimetres or square centimetres.
    uint256 result;
    /// `centimeters` or `square_centimeters`.
    string units;
    bytes32[] inputRefs;
    uint256 timestamp;
    string operation;
}

/// Decodes and checks the content of a result. `GeoAttestation`, `GeoMerkle` and `GeoSignature` check who signed it.
library GeoResult {
    error DataNotCanonical();
    error TimestampAhead(uint256 timestamp);
    error TimestampTooOld(uint256 timestamp, uint256 maxAgeSeconds);
    error InputIsAnother(uint256 index, bytes32 ref);
    error OperationIsAnother(string operation);

    /// How far the service's clock may be ahead of the block. A simulated call sees the time of the previous block.
    uint256 internal constant MAX_AHEAD_SECONDS = 60;

    /// Decodes the data of a boolean result.
    /// @param data data of the schema `bool result,bytes32[] inputRefs,uint256 timestamp,string operation`
    /// @return decoded its fields; reverts unless `data` is byte for byte what `abi.encode` gives for them (without a
    ///         reason when `abi.decode` fails)
    function decodeBoolean(bytes memory data) internal pure returns (BooleanResult memory decoded) {
        (decoded.result, decoded.inputRefs, decoded.timestamp, decoded.operation) =
            abi.decode(data, (bool, bytes32[], uint256, string));
        bytes memory canonical = abi.encode(decoded.result, decoded.inputRefs, decoded.timestamp, decoded.operation);
        if (keccak256(canonical) != keccak256(data)) revert DataNotCanonical();
    }

    /// Decodes the data of a numeric result.
    /// @param data data of the schema `uint256 result,string units,bytes32[] inputRefs,uint256 timestamp,string operation`
    /// @return decoded its fields; reverts as `decodeBoolean` does
    function decodeNumeric(bytes memory data) internal pure returns (NumericResult memory decoded) {
        (decoded.result, decoded.units, decoded.inputRefs, decoded.timestamp, decoded.operation) =
            abi.decode(data, (uint256, string, bytes32[], uint256, string));
        bytes memory canonical =
            abi.encode(decoded.result, decoded.units, decoded.inputRefs, decoded.timestamp, decoded.operation);
        if (keccak256(canonical) != keccak256(data)) revert DataNotCanonical();
    }

    /// Parses `within:` and 1 to 12 decimal digits, the first not zero. The service writes at most 10, because its largest
    /// radius is 2,003,750,800 cm.
    /// @return isWithin false for any other text; blanks, signs, points, exponents and leading zeros are not accepted
    /// @return radiusCm centimetres, 0 when `isWithin` is false
    function parseWithin(string memory operation) internal pure returns (bool isWithin, uint256 radiusCm) {
        bytes memory text = bytes(operation);
        if (text.length < 8 || text.length > 19 || bytes7(text) != "within:" || text[7] == "0") return (false, 0);
        for (uint256 i = 7; i < text.length; ++i) {
            if (text[i] < "0" || text[i] > "9") return (false, 0);
            radiusCm = radiusCm * 10 + uint8(text[i]) - 48;
        }
        return (true, radiusCm);
    }

    /// Reverts unless the whole operation is `expected`. `contains` is about edges that are straight in longitude and latitude,
    /// `contains:geodesic` about shortest geodesics: each is true for places for which the other is false.
    function requireOperation(string memory operation, string memory expected) internal pure {
        if (keccak256(bytes(operation)) != keccak256(bytes(expected))) revert OperationIsAnother(operation);
    }

    /// Reverts unless `timestamp` is at most `maxAgeSeconds` before the block and at most `MAX_AHEAD_SECONDS` after it.
    function requireFresh(uint256 timestamp, uint256 maxAgeSeconds) internal view {
        if (timestamp > block.timestamp + MAX_AHEAD_SECONDS) revert TimestampAhead(timestamp);
        // No shortcut for a result of the same second: a gas estimate made with it would be too low in the next block.
        if (block.timestamp > timestamp + maxAgeSeconds) revert TimestampTooOld(timestamp, maxAgeSeconds);
    }

    /// Reverts unless the input at `index` is `ref`.
    function requireInput(bytes32[] memory inputRefs, uint256 index, bytes32 ref) internal pure {
        if (inputRefs[index] != ref) revert InputIsAnother(index, inputRefs[index]);
    }

    /// Computes an identifier of a result that does not depend on its signature. A result can be signed again and then
    /// attested under another UID. So a contract that accepts each result once must store this identifier, not the UID.
    function identityOf(address recipient, bytes memory data) internal pure returns (bytes32) {
        return keccak256(abi.encode(recipient, keccak256(data)));
    }
}
