// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";
import {GeoAttestation} from "./GeoAttestation.sol";
import {BooleanResult, GeoResult} from "./GeoResult.sol";

/// Terms of admission: a person must have been near enough to a location, recently enough.
struct WithinTerms {
    /// Reference of the location: keccak-256 of its canonical GeoJSON (RFC 8785), as in `inputRefs[1]` of a response.
    bytes32 target;
    /// UID of the schema of location attestations.
    bytes32 locationSchema;
    /// The trusted attester of location attestations. It must not be a person who may want to be admitted.
    address locationAttester;
    /// Largest radius in centimetres.
    uint64 maxRadiusCm;
    /// Largest age of a result, in seconds.
    uint64 maxAgeSeconds;
    /// Largest age of the event that the location attestation is about, in seconds. This is a separate limit, because a
    /// result computed now about a location from last year is itself new.
    uint64 maxLocationAgeSeconds;
}

/// Checks that a person was within a radius of a location.
library GeoWithin {
    error RecipientMissing();
    error ResultIsFalse();
    error OperationIsNotWithin(string operation);
    error RadiusTooLarge(uint256 radiusCm, uint256 maxRadiusCm);
    error InputsAreNotTwo(uint256 count);

    /// Reverts unless the result meets the terms. The caller must have checked that the service attested or signed `data`
    /// under the schema of boolean results and for this recipient.
    ///
    /// The first input decides whom the result is about. A bare geometry is not enough: the result would only say that
    /// one location is near another, which anyone can get signed. So it must be a location attestation for the recipient.
    /// @return locationUid UID of that location attestation, which may be revoked later
    /// @return until last second at which both result and location are recent enough
    function requireMet(WithinTerms memory terms, IEAS eas, address recipient, bytes memory data)
        internal
        view
        returns (bytes32 locationUid, uint256 until)
    {
        // Location attestations without a recipient would match results without a recipient.
        if (recipient == address(0)) revert RecipientMissing();
        BooleanResult memory said = GeoResult.decodeBoolean(data);
        if (!said.result) revert ResultIsFalse();
        (bool isWithin, uint256 radiusCm) = GeoResult.parseWithin(said.operation);
        if (!isWithin) revert OperationIsNotWithin(said.operation);
        if (radiusCm > terms.maxRadiusCm) revert RadiusTooLarge(radiusCm, terms.maxRadiusCm);
        if (said.inputRefs.length != 2) revert InputsAreNotTwo(said.inputRefs.length);
        GeoResult.requireInput(said.inputRefs, 1, terms.target);
        GeoResult.requireFresh(said.timestamp, terms.maxAgeSeconds);

        locationUid = said.inputRefs[0];
        Attestation memory location = GeoAttestation.read(eas, locationUid);
        GeoAttestation.requireOf(location, terms.locationSchema, terms.locationAttester, recipient);
        // `uint256 eventTimestamp` is the first field of the schema.
        uint256 eventTimestamp = abi.decode(location.data, (uint256));
        GeoResult.requireFresh(eventTimestamp, terms.maxLocationAgeSeconds);

        until = said.timestamp + terms.maxAgeSeconds;
        uint256 locationUntil = eventTimestamp + terms.maxLocationAgeSeconds;
        if (locationUntil < until) until = locationUntil;
    }
}
