// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";

/// The fields of a result that its leaf covers. `schema` says what `data` contains: check it before decoding.
struct GeoItem {
    bytes32 schema;
    address recipient;
    bytes data;
}

/// Checks of results that were attested together, by one Merkle root.
library GeoMerkle {
    error RootNotFound(bytes32 uid);
    error RootHasOtherSchema(bytes32 schema);
    error RootHasOtherAttester(address attester);
    error RootNoLongerStands(bytes32 uid);
    error ItemNotUnderRoot();

    /// Computes a leaf. It is hashed twice: a leaf's preimage then has 32 bytes and an inner node's 64, so neither can
    /// pass for the other.
    function leafOf(GeoItem calldata item) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(item.schema, item.recipient, keccak256(item.data)))));
    }

    /// Computes the root from a node and its proof. The smaller child comes first, so a proof needs no sides. Gives the
    /// same as OpenZeppelin's MerkleProof.processProof.
    function rootOf(bytes32 node, bytes32[] calldata proof) internal pure returns (bytes32) {
        for (uint256 i = 0; i < proof.length; ++i) {
            bytes32 sibling = proof[i];
            node = node < sibling ? keccak256(abi.encode(node, sibling)) : keccak256(abi.encode(sibling, node));
        }
        return node;
    }

    /// Reverts unless `item` is under a root that `attester` attested under `rootSchema` and that is still valid.
    /// @param uid UID of the root's attestation
    /// @param rootSchema UID of "bytes32 merkleRoot,uint32 leafCount,uint256 timestamp"; without this check, the first
    ///        word of any attestation could be used as a root
    /// @param proof siblings from the leaf up
    /// @return timestamp time at which the results under the root were computed, in Unix seconds
    function requireIncluded(
        IEAS eas,
        bytes32 uid,
        bytes32 rootSchema,
        address attester,
        GeoItem calldata item,
        bytes32[] calldata proof
    ) internal view returns (uint256 timestamp) {
        Attestation memory root = eas.getAttestation(uid);
        if (uid == 0 || root.uid != uid) revert RootNotFound(uid);
        if (root.schema != rootSchema) revert RootHasOtherSchema(root.schema);
        if (root.attester != attester) revert RootHasOtherAttester(root.attester);
        bool isExpired = root.expirationTime != 0 && root.expirationTime <= block.timestamp;
        if (root.revocationTime != 0 || isExpired) revert RootNoLongerStands(uid);
        bytes32 merkleRoot;
        (merkleRoot,, timestamp) = abi.decode(root.data, (bytes32, uint32, uint256));
        if (rootOf(leafOf(item), proof) != merkleRoot) revert ItemNotUnderRoot();
    }
}
