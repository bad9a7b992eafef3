// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// An attestation as EAS stores it; the same in every version from 0.26 on.
struct Attestation {
    bytes32 uid;
    bytes32 schema;
    uint64 time;
    uint64 expirationTime;
    uint64 revocationTime;
    bytes32 refUID;
    address recipient;
    address attester;
    bool revocable;
    bytes data;
}

/// The only function of the Ethereum Attestation Service (EAS) that is needed here.
interface IEAS {
    /// Returns an attestation with uid zero for an unknown UID.
    function getAttestation(bytes32 uid) external view returns (Attestation memory);
}
