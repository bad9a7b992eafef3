// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {IEAS} from "./IEAS.sol";
import {GeoItem, GeoMerkle} from "./GeoMerkle.sol";
import {GeoSignature, GeoSignedResult} from "./GeoSignature.sol";

/// Both libraries behind one attester: to be deployed as it is, or read as an example.
contract GeoVerifier {
    error ResultIsForSomebodyElse(address recipient);
    error ResultAlreadyUsed(bytes32 digest);

    event ResultUsed(bytes32 indexed digest, bytes32 indexed schema, address indexed recipient);

    IEAS public immutable eas;
    bytes32 public immutable rootSchema;
    address public immutable attester;
    /// Digests of results that were used.
    mapping(bytes32 digest => bool) public isUsed;

    /// @param rootSchema_ UID of the schema of Merkle roots, `attester_` who signs: both from /.well-known/attester.json
    constructor(IEAS eas_, bytes32 rootSchema_, address attester_) {
        // ecrecover says zero for what is nobody's: it must never be the attester.
        require(attester_ != address(0), "no attester");
        eas = eas_;
        rootSchema = rootSchema_;
        attester = attester_;
    }

    /// Reverts unless `item` stands under the attested root `uid`. Can be asked any number of times.
    /// @return timestamp seconds at which it was computed
    function verifyItem(bytes32 uid, GeoItem calldata item, bytes32[] calldata proof)
        external
        view
        returns (uint256 timestamp)
    {
        return GeoMerkle.requireIncluded(eas, uid, rootSchema, attester, item, proof);
    }

    /// Reverts unless the result is signed by the attester, in time and not used.
    function verifyResult(GeoSignedResult calldata result) public view returns (bytes32 digest) {
        digest = GeoSignature.requireSigned(result, attester);
        if (isUsed[digest]) revert ResultAlreadyUsed(digest);
    }

    /// Uses a result up. One that names a recipient is used by its recipient alone: nobody else can spend it first.
    function useResult(GeoSignedResult calldata result) external returns (bytes32 digest) {
        if (result.recipient != address(0) && result.recipient != msg.sender) {
            revert ResultIsForSomebodyElse(result.recipient);
        }
        digest = verifyResult(result);
        isUsed[digest] = true;
        emit ResultUsed(digest, result.schema, result.recipient);
    }
}
