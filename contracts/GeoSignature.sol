// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A result and its `resultSignature`, from a response to a request with `Prefer: result-signature`.
struct GeoSignedResult {
    bytes32 schema;
    address recipient;
    bytes data;
    uint64 deadline;
    bytes32 salt;
    /// r, s, v
    bytes signature;
}

/// Checks of results that are signed without EAS and without a nonce, so they can be used in any number and order.
///
/// The signed domain names the chain and no contract, so every contract of the chain can accept a result. A contract
/// that acts on a result must store its digest, so that it accepts the result only once.
library GeoSignature {
    error ResultExpired(uint64 deadline);
    error SignatureMalformed();
    error ResultHasOtherSigner(address signer);

    bytes32 private constant DOMAIN_TYPE_HASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId)");
    bytes32 private constant RESULT_TYPE_HASH =
        keccak256("SignedResult(bytes32 schema,address recipient,bytes32 dataHash,uint64 deadline,bytes32 salt)");
    /// Half of the order of secp256k1, rounded down. Accepting a larger s would give each signature a second spelling.
    uint256 private constant LARGEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// Computes the EIP-712 digest. The chain id is read each time, because a fork may change it.
    function digestOf(GeoSignedResult calldata result) internal view returns (bytes32) {
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPE_HASH, keccak256("GeoResult"), keccak256("1"), block.chainid));
        bytes32 content = keccak256(
            abi.encode(
                RESULT_TYPE_HASH, result.schema, result.recipient, keccak256(result.data), result.deadline, result.salt
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, content));
    }

    /// Reverts unless `attester` signed the result for this chain and its deadline has not passed.
    /// @return digest to be stored, so that the result is not accepted twice
    function requireSigned(GeoSignedResult calldata result, address attester) internal view returns (bytes32 digest) {
        if (block.timestamp > result.deadline) revert ResultExpired(result.deadline);
        bytes calldata signature = result.signature;
        if (signature.length != 65) revert SignatureMalformed();
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        if (uint256(s) > LARGEST_S || (v != 27 && v != 28)) revert SignatureMalformed();
        digest = digestOf(result);
        address signer = ecrecover(digest, v, bytes32(signature[0:32]), s);
        // ecrecover returns zero for an invalid signature.
        if (signer == address(0) || signer != attester) revert ResultHasOtherSigner(signer);
    }
}
