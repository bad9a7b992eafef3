// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";
import {GeoAttestation} from "./GeoAttestation.sol";
import {GeoResult} from "./GeoResult.sol";
import {GeoWithin, WithinTerms} from "./GeoWithin.sol";

/// Takes results that were attested under the common schema of truth values, each once, from their recipient alone.
contract WithinEntry {
    error ResultAlreadyUsed(bytes32 identity);

    event Entered(address indexed person, bytes32 indexed resultUid, bytes32 indexed locationUid);

    IEAS public immutable eas;
    /// UID of the schema of truth values, and who signs results: both from /.well-known/attester.json of the service.
    bytes32 public immutable schema;
    address public immutable attester;
    WithinTerms public terms;
    /// Identities of results that were used (`GeoResult.identityOf`).
    mapping(bytes32 identity => bool) public isUsed;

    /// @param eas_ the chain's EAS, `schema_` of truth values, `attester_` who signs results, `terms_` who is let in
    constructor(IEAS eas_, bytes32 schema_, address attester_, WithinTerms memory terms_) {
        eas = eas_;
        schema = schema_;
        attester = attester_;
        terms = terms_;
    }

    /// Uses up the result attested as `uid`; reverts unless it lets the caller in.
    /// @return locationUid UID of the location attestation the result is about
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
