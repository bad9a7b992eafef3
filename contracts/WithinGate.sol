// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {Attestation, IEAS} from "./IEAS.sol";
import {GeoAttestation} from "./GeoAttestation.sol";
import {GeoResult} from "./GeoResult.sol";
import {GeoWithin, WithinTerms} from "./GeoWithin.sol";

/// Resolver of an EAS schema: admits people who were near enough, and rejects every attestation that does not prove it.
///
/// Register `SCHEMA` with this contract as its resolver, revocable, and use `schema` in requests to the service. Anyone
/// can submit the signed results; they admit their recipient, whom the signature covers. Other contracts call
/// `isAdmitted`.
contract WithinGate {
    error CallerIsNotEas(address caller);
    error ResultAlreadyUsed(bytes32 identity);

    /// `person` is admitted until that second, unless the result or the location attestation is revoked before.
    event Admitted(address indexed person, bytes32 indexed resultUid, bytes32 indexed locationUid, uint256 until);
    /// The result that admitted `person` was revoked.
    event Dismissed(address indexed person, bytes32 indexed resultUid);

    /// An admission of a person.
    struct Admission {
        bytes32 resultUid;
        bytes32 locationUid;
        uint256 until;
    }

    /// The schema to be registered.
    string public constant SCHEMA = "bool result,bytes32[] inputRefs,uint256 timestamp,string operation";

    IEAS public immutable eas;
    /// UID of `SCHEMA` with this contract as its resolver.
    bytes32 public immutable schema;
    /// The signer of results, from the service's /.well-known/attester.json.
    address public immutable attester;
    WithinTerms public terms;
    /// The last admission of each person that did not end earlier than the one before, whether still valid or not.
    mapping(address person => Admission) public admissions;
    /// Identifiers of used results (`GeoResult.identityOf`).
    mapping(bytes32 identity => bool) public isUsed;

    modifier onlyEas() {
        if (msg.sender != address(eas)) revert CallerIsNotEas(msg.sender);
        _;
    }

    /// @param eas_ the chain's EAS contract
    /// @param attester_ the signer of results
    /// @param terms_ the terms of admission
    constructor(IEAS eas_, address attester_, WithinTerms memory terms_) {
        eas = eas_;
        schema = keccak256(abi.encodePacked(SCHEMA, address(this), true));
        attester = attester_;
        terms = terms_;
    }

    /// @return true while `person` is admitted: the result is recent, and neither it nor the location attestation is
    ///         revoked
    function isAdmitted(address person) public view returns (bool) {
        Admission memory admission = admissions[person];
        return block.timestamp <= admission.until && GeoAttestation.stands(eas.getAttestation(admission.locationUid));
    }

    /// Called by EAS before it accepts an attestation with value.
    function isPayable() external pure returns (bool) {
        return false;
    }

    /// Called by EAS: reverts unless `result` admits its recipient.
    function attest(Attestation calldata result) external onlyEas returns (bool) {
        admit(result);
        return true;
    }

    /// Called by EAS: the same for several results; if one is rejected, all are.
    function multiAttest(Attestation[] calldata results, uint256[] calldata) external onlyEas returns (bool) {
        for (uint256 i = 0; i < results.length; ++i) admit(results[i]);
        return true;
    }

    /// Called by EAS: ends the admission by the result.
    function revoke(Attestation calldata result) external onlyEas returns (bool) {
        dismiss(result);
        return true;
    }

    /// Called by EAS: the same for several results.
    function multiRevoke(Attestation[] calldata results, uint256[] calldata) external onlyEas returns (bool) {
        for (uint256 i = 0; i < results.length; ++i) dismiss(results[i]);
        return true;
    }

    function admit(Attestation memory result) private {
        // Anyone can register other schemas with this contract as their resolver.
        GeoAttestation.requireOf(result, schema, attester, result.recipient);
        (bytes32 locationUid, uint256 until) = GeoWithin.requireMet(terms, eas, result.recipient, result.data);
        // The service keeps no record of results, so it may sign a revoked one again.
        bytes32 identity = GeoResult.identityOf(result.recipient, result.data);
        if (isUsed[identity]) revert ResultAlreadyUsed(identity);
        isUsed[identity] = true;
        if (isAdmittedBeyond(result.recipient, until)) return;
        admissions[result.recipient] = Admission(result.uid, locationUid, until);
        emit Admitted(result.recipient, result.uid, locationUid, until);
    }

    /// Anyone can submit a result about an older location attestation of a person. It does not shorten an admission.
    function isAdmittedBeyond(address person, uint256 until) private view returns (bool) {
        return until < admissions[person].until && isAdmitted(person);
    }

    function dismiss(Attestation calldata result) private {
        // A later result may have admitted the person again.
        if (admissions[result.recipient].resultUid != result.uid) return;
        delete admissions[result.recipient];
        emit Dismissed(result.recipient, result.uid);
    }
}
