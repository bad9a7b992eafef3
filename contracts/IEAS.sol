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

/// The one function of the Ethereum Attestation Service that is needed here.
interface IEAS {
    /// A UID that is not known gives an attestation whose uid is zero.
    function getAttestation(bytes32 uid) external view returns (Attestation memory);
}
