// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";

/// A result as its leaf covers it. What `data` holds is told by `schema`: look at it before decoding.
struct GeoItem {
    bytes32 schema;
    address recipient;
    bytes data;
}

/// Results of which only a Merkle root was attested.
library GeoMerkle {
    error RootNotFound(bytes32 uid);
    error RootHasOtherSchema(bytes32 schema);
    error RootHasOtherAttester(address attester);
    error RootNoLongerStands(bytes32 uid);
    error ItemNotUnderRoot();

    /// Hashed twice: a leaf's preimage has 32 bytes, an inner node's 64, so neither can stand for the other.
    function leafOf(GeoItem calldata item) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(item.schema, item.recipient, keccak256(item.data)))));
    }

    /// The smaller child comes first, so a proof needs no sides. The same as OpenZeppelin's MerkleProof.processProof.
    function rootOf(bytes32 node, bytes32[] calldata proof) internal pure returns (bytes32) {
        for (uint256 i = 0; i < proof.length; ++i) {
            bytes32 sibling = proof[i];
            node = node < sibling ? keccak256(abi.encode(node, sibling)) : keccak256(abi.encode(sibling, node));
        }
        return node;
    }

    /// Reverts unless `item` stands under a root that `attester` attested under `rootSchema` and did not revoke.
    /// @param uid of the root's attestation
    /// @param rootSchema UID of "bytes32 merkleRoot,uint32 leafCount,uint256 timestamp"; without this check the first word
    ///        of any attestation would do for a root
    /// @param proof siblings from the leaf up
    /// @return timestamp seconds at which the results under the root were computed
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
