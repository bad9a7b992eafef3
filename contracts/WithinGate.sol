// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";
import {GeoAttestation} from "./GeoAttestation.sol";
import {GeoResult} from "./GeoResult.sol";
import {GeoWithin, WithinTerms} from "./GeoWithin.sol";

/// Resolver of an EAS schema: lets in who was near enough, and refuses every attestation that does not show it.
///
/// Register `SCHEMA` with this contract as its resolver, revocable, and name `schema` in requests to the service. Anybody may
/// submit what it answers; the recipient, which is signed, is let in. Other contracts ask `isAdmitted`.
contract WithinGate {
    error CallerIsNotEas(address caller);
    error ResultAlreadyUsed(bytes32 identity);

    /// `person` is let in until that second, unless the result or the location attestation is revoked before.
    event Admitted(address indexed person, bytes32 indexed resultUid, bytes32 indexed locationUid, uint256 until);
    /// The result by which `person` was let in was revoked.
    event Dismissed(address indexed person, bytes32 indexed resultUid);

    /// By what a person was let in last.
    struct Admission {
        bytes32 resultUid;
        bytes32 locationUid;
        uint256 until;
    }

    /// What has to be registered.
    string public constant SCHEMA = "bool result,bytes32[] inputRefs,uint256 timestamp,string operation";

    IEAS public immutable eas;
    /// UID of `SCHEMA` with this contract as its resolver.
    bytes32 public immutable schema;
    /// Who signs results: from /.well-known/attester.json of the service.
    address public immutable attester;
    WithinTerms public terms;
    /// The last admission of each person, whether it still holds or not.
    mapping(address person => Admission) public admissions;
    /// Identities of results that were used (`GeoResult.identityOf`).
    mapping(bytes32 identity => bool) public isUsed;

    modifier onlyEas() {
        if (msg.sender != address(eas)) revert CallerIsNotEas(msg.sender);
        _;
    }

    /// @param eas_ the chain's EAS, `attester_` who signs results, `terms_` who is let in
    constructor(IEAS eas_, address attester_, WithinTerms memory terms_) {
        eas = eas_;
        schema = keccak256(abi.encodePacked(SCHEMA, address(this), true));
        attester = attester_;
        terms = terms_;
    }

    /// @return true while `person` is let in: the result is fresh and stands, and so does the location attestation
    function isAdmitted(address person) external view returns (bool) {
        Admission memory admission = admissions[person];
        return block.timestamp <= admission.until && GeoAttestation.stands(eas.getAttestation(admission.locationUid));
    }

    /// For EAS, which asks before it lets an attestation with value through.
    function isPayable() external pure returns (bool) {
        return false;
    }

    /// For EAS: reverts unless `result` lets its recipient in.
    function attest(Attestation calldata result) external onlyEas returns (bool) {
        admit(result);
        return true;
    }

    /// For EAS: the same for each of several results; one that is refused refuses all.
    function multiAttest(Attestation[] calldata results, uint256[] calldata) external onlyEas returns (bool) {
        for (uint256 i = 0; i < results.length; ++i) admit(results[i]);
        return true;
    }

    /// For EAS: takes back what the result gave.
    function revoke(Attestation calldata result) external onlyEas returns (bool) {
        dismiss(result);
        return true;
    }

    /// For EAS: the same for each of several results.
    function multiRevoke(Attestation[] calldata results, uint256[] calldata) external onlyEas returns (bool) {
        for (uint256 i = 0; i < results.length; ++i) dismiss(results[i]);
        return true;
    }

    function admit(Attestation memory result) private {
        // Anybody can register other schemas with this contract as their resolver.
        GeoAttestation.requireOf(result, schema, attester, result.recipient);
        (bytes32 locationUid, uint256 until) = GeoWithin.requireMet(terms, eas, result.recipient, result.data);
        // A revoked result can be signed again by the service, which keeps no record of it.
        bytes32 identity = GeoResult.identityOf(result.recipient, result.data);
        if (isUsed[identity]) revert ResultAlreadyUsed(identity);
        isUsed[identity] = true;
        admissions[result.recipient] = Admission(result.uid, locationUid, until);
        emit Admitted(result.recipient, result.uid, locationUid, until);
    }

    function dismiss(Attestation calldata result) private {
        // A later result may have let the person in again.
        if (admissions[result.recipient].resultUid != result.uid) return;
        delete admissions[result.recipient];
        emit Dismissed(result.recipient, result.uid);
    }
}
