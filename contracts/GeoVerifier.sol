// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {IEAS} from "./IEAS.sol";
import {GeoItem, GeoMerkle} from "./GeoMerkle.sol";
import {GeoSignature, GeoSignedResult} from "./GeoSignature.sol";

/// Both libraries with one attester: deploy it as it is, or use it as an example.
contract GeoVerifier {
    error ResultIsForSomebodyElse(address recipient);
    error ResultAlreadyUsed(bytes32 digest);

    event ResultUsed(bytes32 indexed digest, bytes32 indexed schema, address indexed recipient);

    IEAS public immutable eas;
    bytes32 public immutable rootSchema;
    address public immutable attester;
    /// Digests of used results.
    mapping(bytes32 digest => bool) public isUsed;

    /// @param eas_ the chain's EAS contract
    /// @param rootSchema_ UID of the Merkle root schema, from the service's /.well-known/attester.json
    /// @param attester_ the signer of results, from the same file
    constructor(IEAS eas_, bytes32 rootSchema_, address attester_) {
        // ecrecover returns zero for an invalid signature, so zero must never be the attester.
        require(attester_ != address(0), "no attester");
        eas = eas_;
        rootSchema = rootSchema_;
        attester = attester_;
    }

    /// Reverts unless `item` is under the attested root `uid`. It can be called any number of times.
    /// @return timestamp time of computation in Unix seconds
    function verifyItem(bytes32 uid, GeoItem calldata item, bytes32[] calldata proof)
        external
        view
        returns (uint256 timestamp)
    {
        return GeoMerkle.requireIncluded(eas, uid, rootSchema, attester, item, proof);
    }

    /// Reverts unless the attester signed the result, its deadline has not passed and it has not been used.
    function verifyResult(GeoSignedResult calldata result) public view returns (bytes32 digest) {
        digest = GeoSignature.requireSigned(result, attester);
        if (isUsed[digest]) revert ResultAlreadyUsed(digest);
    }

    /// Uses a result, which is possible only once. If it has a recipient, only the recipient can use it.
    function useResult(GeoSignedResult calldata result) external returns (bytes32 digest) {
        if (result.recipient != address(0) && result.recipient != msg.sender) {
            revert ResultIsForSomebodyElse(result.recipient);
        }
        digest = verifyResult(result);
        isUsed[digest] = true;
        emit ResultUsed(digest, result.schema, result.recipient);
    }
}
