// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";
import {GeoAttestation} from "./GeoAttestation.sol";
import {BooleanResult, GeoResult} from "./GeoResult.sol";

/// Who is let in: whoever was, not long ago, near enough to one place.
struct WithinTerms {
    /// Reference of the place: keccak-256 of its canonical GeoJSON (RFC 8785), as in `inputRefs[1]` of an answer.
    bytes32 target;
    /// UID of the schema of location attestations.
    bytes32 locationSchema;
    /// Whose location attestations are believed. Never somebody who would like to be let in.
    address locationAttester;
    /// Largest radius in centimetres.
    uint64 maxRadiusCm;
    /// How old a result may be, in seconds.
    uint64 maxAgeSeconds;
    /// How old the event may be that the location attestation is about, in seconds. A result computed now of a place
    /// somebody was at last year is fresh.
    uint64 maxLocationAgeSeconds;
}

/// That a person was within a radius of a place.
library GeoWithin {
    error RecipientMissing();
    error ResultIsFalse();
    error OperationIsNotWithin(string operation);
    error RadiusTooLarge(uint256 radiusCm, uint256 maxRadiusCm);
    error InputsAreNotTwo(uint256 count);

    /// Reverts unless the result meets the terms. That `data` was attested or signed by the service, under the schema of
    /// truth values and for this recipient, has to be certain before.
    ///
    /// The first input decides whom the result is about. Were it a bare geometry, the result would say that one place is
    /// near another: true, signed, and to be had by everybody. So it has to be a location attestation of the recipient.
    /// @return locationUid UID of that location attestation: it may be revoked later
    /// @return until last second at which result and location are both fresh
    function requireMet(WithinTerms memory terms, IEAS eas, address recipient, bytes memory data)
        internal
        view
        returns (bytes32 locationUid, uint256 until)
    {
        // Location attestations for nobody would match results for nobody.
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
