// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";

/// Checks of an attestation's schema, attester and recipient, and whether it is still valid.
library GeoAttestation {
    error AttestationNotFound(bytes32 uid);
    error AttestationHasOtherSchema(bytes32 uid, bytes32 schema);
    error AttestationHasOtherAttester(bytes32 uid, address attester);
    error AttestationIsForSomebodyElse(bytes32 uid, address recipient);
    error AttestationNoLongerStands(bytes32 uid);

    /// Reads an attestation; reverts when EAS has none with this UID.
    /// @return found the attestation `uid`
    function read(IEAS eas, bytes32 uid) internal view returns (Attestation memory found) {
        found = eas.getAttestation(uid);
        if (uid == 0 || found.uid != uid) revert AttestationNotFound(uid);
    }

    /// Reverts unless the attestation has this schema, attester and recipient and is still valid.
    function requireOf(Attestation memory found, bytes32 schema, address attester, address recipient) internal view {
        if (found.schema != schema) revert AttestationHasOtherSchema(found.uid, found.schema);
        if (found.attester != attester) revert AttestationHasOtherAttester(found.uid, found.attester);
        if (found.recipient != recipient) revert AttestationIsForSomebodyElse(found.uid, found.recipient);
        if (!stands(found)) revert AttestationNoLongerStands(found.uid);
    }

    /// @return true unless the attestation is revoked or has expired
    function stands(Attestation memory found) internal view returns (bool) {
        bool isExpired = found.expirationTime != 0 && found.expirationTime <= block.timestamp;
        return found.revocationTime == 0 && !isExpired;
    }
}
