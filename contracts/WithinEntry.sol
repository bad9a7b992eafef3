// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";
import {GeoAttestation} from "./GeoAttestation.sol";
import {GeoResult} from "./GeoResult.sol";
import {GeoWithin, WithinTerms} from "./GeoWithin.sol";

/// Accepts results that were attested under the common schema of boolean results: each once, and only from its recipient.
contract WithinEntry {
    error ResultAlreadyUsed(bytes32 identity);

    event Entered(address indexed person, bytes32 indexed resultUid, bytes32 indexed locationUid);

    IEAS public immutable eas;
    /// UID of the schema of boolean results, and the signer: both from the service's /.well-known/attester.json.
    bytes32 public immutable schema;
    address public immutable attester;
    WithinTerms public terms;
    /// Identifiers of used results (`GeoResult.identityOf`).
    mapping(bytes32 identity => bool) public isUsed;

    /// @param eas_ the chain's EAS contract
    /// @param schema_ UID of the schema of boolean results
    /// @param attester_ the signer of results
    /// @param terms_ the terms of admission
    constructor(IEAS eas_, bytes32 schema_, address attester_, WithinTerms memory terms_) {
        eas = eas_;
        schema = schema_;
        attester = attester_;
        terms = terms_;
    }

    /// Uses the result attested as `uid`; reverts unless it admits the caller.
    /// @return locationUid UID of the location attestation that the result is about
    function enter(bytes32 uid) external returns (bytes32 locationUid) {
        Attestation memory result = GeoAttestation.read(eas, uid);
        GeoAttestation.requireOf(result, schema, attester, msg.sender);
        (locationUid,) = GeoWithin.requireMet(terms, eas, msg.sender, result.data);
        bytes32 identity = GeoResult.identityOf(msg.sender, result.data);
        if (isUsed[identity]) revert ResultAlreadyUsed(identity);
        isUsed[identity] = true;
        emit Entered(msg.sender, uid, locationUid);
    }
}
