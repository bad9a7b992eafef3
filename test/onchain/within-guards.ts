/** Every guard of the gates: its text, and an attempt that breaks only this rule. */
import {
  type Attempt,
  type Fixture,
  MAX_AGE_SECONDS,
  MAX_LOCATION_AGE_SECONDS,
  MAX_RADIUS_CM,
  uids,
  ZERO_ADDRESS,
} from './within-fixture.ts'

export interface Guard {
  /** The attempt. */
  readonly name: string
  readonly file: string
  /** The text of the guard; without it the attempt must succeed. */
  readonly text: string
  readonly error: string
  /** Error of the next guard, when the attempt fails even without this one. */
  readonly nextError?: string
  readonly attempt: (fixture: Fixture) => Promise<Attempt>
}

const flip = (hex: `0x${string}`): `0x${string}` => `0x${hex.slice(2, -1)}${hex.endsWith('0') ? '1' : '0'}`

const SCHEMA = 'if (found.schema != schema) revert AttestationHasOtherSchema(found.uid, found.schema);'
const ATTESTER = 'if (found.attester != attester) revert AttestationHasOtherAttester(found.uid, found.attester);'
const RECIPIENT = 'if (found.recipient != recipient) revert AttestationIsForSomebodyElse(found.uid, found.recipient);'
const REVOCATION_GUARD = 'if (!stands(found)) revert AttestationNoLongerStands(found.uid);'
const CANONICAL = `bytes memory canonical = abi.encode(decoded.result, decoded.inputRefs, decoded.timestamp, decoded.operation);
        if (keccak256(canonical) != keccak256(data)) revert DataNotCanonical();`
const LOCATION = 'GeoAttestation.requireOf(location, terms.locationSchema, terms.locationAttester, recipient);'
const LOCATION_FRESH = 'GeoResult.requireFresh(eventTimestamp, terms.maxLocationAgeSeconds);'

/** Guards of a result and of its location attestation, shared by gates and entries. */
export const SHARED_GUARDS: readonly Guard[] = [
  {
    name: 'the first input is a bare geometry',
    file: 'GeoAttestation.sol',
    text: 'if (uid == 0 || found.uid != uid) revert AttestationNotFound(uid);',
    error: 'AttestationNotFound',
    nextError: 'AttestationHasOtherSchema',
    attempt: (fixture) => fixture.attempt({ ref: `0x${'b5'.repeat(32)}` }),
  },
  {
    name: 'the first input is another kind of attestation',
    file: 'GeoAttestation.sol',
    text: SCHEMA,
    error: 'AttestationHasOtherSchema',
    attempt: async (fixture) => fixture.attempt({ ref: await fixture.location({ schema: uids.numeric }) }),
  },
  {
    name: 'the first input is attested by the person',
    file: 'GeoAttestation.sol',
    text: ATTESTER,
    error: 'AttestationHasOtherAttester',
    attempt: async (fixture) => fixture.attempt({ ref: await fixture.location({ from: fixture.person }) }),
  },
  {
    name: 'the first input is the location of somebody else',
    file: 'GeoAttestation.sol',
    text: RECIPIENT,
    error: 'AttestationIsForSomebodyElse',
    attempt: async (fixture) => fixture.attempt({ ref: await fixture.location({ recipient: fixture.stranger }) }),
  },
  ...[REVOCATION_GUARD, 'found.revocationTime == 0 && '].map((text) => ({
    name: 'the first input is revoked',
    file: 'GeoAttestation.sol',
    text,
    error: 'AttestationNoLongerStands',
    attempt: async (fixture: Fixture) => {
      const ref = await fixture.location()
      await fixture.local.revoke(uids.location, ref, fixture.locator)
      return fixture.attempt({ ref })
    },
  })),
  ...[REVOCATION_GUARD, ' && !isExpired'].map((text) => ({
    name: 'the first input has expired',
    file: 'GeoAttestation.sol',
    text,
    error: 'AttestationNoLongerStands',
    attempt: async (fixture: Fixture) => {
      const expirationTime = (await fixture.now()) + 100n
      const ref = await fixture.location({ expirationTime })
      await fixture.pass(expirationTime)
      return fixture.attempt({ ref })
    },
  })),
  {
    name: 'the first input is a location of another recipient',
    file: 'GeoWithin.sol',
    text: LOCATION,
    error: 'AttestationIsForSomebodyElse',
    attempt: async (fixture) => fixture.attempt({ ref: await fixture.location({ recipient: fixture.stranger }) }),
  },
  {
    name: 'the location is an old one',
    file: 'GeoWithin.sol',
    text: LOCATION_FRESH,
    error: 'TimestampTooOld',
    attempt: async (fixture) => {
      const eventTimestamp = (await fixture.now()) - MAX_LOCATION_AGE_SECONDS - 60n
      return fixture.attempt({ ref: await fixture.location({ eventTimestamp }) })
    },
  },
  {
    name: 'the location has a time in the future',
    file: 'GeoWithin.sol',
    text: LOCATION_FRESH,
    error: 'TimestampAhead',
    attempt: async (fixture) =>
      fixture.attempt({ ref: await fixture.location({ eventTimestamp: (await fixture.now()) + 86_400n }) }),
  },
  {
    name: 'result and location have no recipient',
    file: 'GeoWithin.sol',
    text: 'if (recipient == address(0)) revert RecipientMissing();',
    error: 'RecipientMissing',
    attempt: async (fixture) =>
      fixture.attempt({ recipient: ZERO_ADDRESS, ref: await fixture.location({ recipient: ZERO_ADDRESS }) }),
  },
  {
    name: 'the result is false',
    file: 'GeoWithin.sol',
    text: 'if (!said.result) revert ResultIsFalse();',
    error: 'ResultIsFalse',
    attempt: (fixture) => fixture.attempt({ result: false }),
  },
  ...['contains', 'intersects', 'within:050000', 'within:', 'within:5e4', ' within:50000', 'within:50000 '].map(
    (operation) => ({
      name: `the operation is "${operation}"`,
      file: 'GeoWithin.sol',
      text: 'if (!isWithin) revert OperationIsNotWithin(said.operation);',
      error: 'OperationIsNotWithin',
      attempt: (fixture: Fixture) => fixture.attempt({ operation }),
    }),
  ),
  {
    name: 'the radius is a centimetre too large',
    file: 'GeoWithin.sol',
    text: 'if (radiusCm > terms.maxRadiusCm) revert RadiusTooLarge(radiusCm, terms.maxRadiusCm);',
    error: 'RadiusTooLarge',
    attempt: (fixture) => fixture.attempt({ operation: `within:${MAX_RADIUS_CM + 1n}` }),
  },
  {
    name: 'there is a third input',
    file: 'GeoWithin.sol',
    text: 'if (said.inputRefs.length != 2) revert InputsAreNotTwo(said.inputRefs.length);',
    error: 'InputsAreNotTwo',
    attempt: (fixture) => fixture.attempt({ more: [`0x${'c3'.repeat(32)}`] }),
  },
  ...[
    ['GeoWithin.sol', 'GeoResult.requireInput(said.inputRefs, 1, terms.target);'],
    ['GeoResult.sol', 'if (inputRefs[index] != ref) revert InputIsAnother(index, inputRefs[index]);'],
  ].map(([file, text]) => ({
    name: `the target is another place, ${file}`,
    file: file!,
    text: text!,
    error: 'InputIsAnother',
    attempt: async (fixture: Fixture) => fixture.attempt({ target: flip(fixture.terms.target) }),
  })),
  ...[
    ['GeoWithin.sol', 'GeoResult.requireFresh(said.timestamp, terms.maxAgeSeconds);'],
    [
      'GeoResult.sol',
      'if (block.timestamp > timestamp + maxAgeSeconds) revert TimestampTooOld(timestamp, maxAgeSeconds);',
    ],
  ].map(([file, text]) => ({
    name: `the result is an old one, ${file}`,
    file: file!,
    text: text!,
    error: 'TimestampTooOld',
    attempt: async (fixture: Fixture) => fixture.attempt({ timestamp: (await fixture.now()) - MAX_AGE_SECONDS - 60n }),
  })),
  ...[
    ['GeoWithin.sol', 'GeoResult.requireFresh(said.timestamp, terms.maxAgeSeconds);'],
    ['GeoResult.sol', 'if (timestamp > block.timestamp + MAX_AHEAD_SECONDS) revert TimestampAhead(timestamp);'],
  ].map(([file, text]) => ({
    name: `the result is one of tomorrow, ${file}`,
    file: file!,
    text: text!,
    error: 'TimestampAhead',
    attempt: async (fixture: Fixture) => fixture.attempt({ timestamp: (await fixture.now()) + 86_400n }),
  })),
  {
    name: 'the data has an extra word at its end',
    file: 'GeoResult.sol',
    text: CANONICAL,
    error: 'DataNotCanonical',
    attempt: async (fixture) => {
      const attempt = await fixture.attempt()
      return { ...attempt, data: `${attempt.data}${'00'.repeat(32)}` }
    },
  },
]

const REQUIRE_RESULT_OF_GATE = 'GeoAttestation.requireOf(result, schema, attester, result.recipient);'

/** Guards of the resolver only. */
export const GATE_GUARDS: readonly Guard[] = [
  {
    name: 'the result is attested by somebody else',
    file: 'WithinGate.sol',
    text: REQUIRE_RESULT_OF_GATE,
    error: 'AttestationHasOtherAttester',
    attempt: (fixture) => fixture.attempt({ from: fixture.stranger }),
  },
  {
    name: 'the attestation has another schema with the same resolver',
    file: 'WithinGate.sol',
    text: REQUIRE_RESULT_OF_GATE,
    error: 'AttestationHasOtherSchema',
    attempt: (fixture) => fixture.attempt({ schema: 'other' }),
  },
  {
    name: 'the resolver is called past EAS',
    file: 'WithinGate.sol',
    text: 'if (msg.sender != address(eas)) revert CallerIsNotEas(msg.sender);',
    error: 'CallerIsNotEas',
    attempt: (fixture) => fixture.attempt({ isDirect: true }),
  },
  {
    name: 'a revoked result is attested again',
    file: 'WithinGate.sol',
    text: 'if (isUsed[identity]) revert ResultAlreadyUsed(identity);',
    error: 'ResultAlreadyUsed',
    attempt: (fixture) => fixture.attempt({ isRepeated: true }),
  },
]

const REQUIRE_RESULT_OF_ENTRY = 'GeoAttestation.requireOf(result, schema, attester, msg.sender);'

/** Guards of the consumer only. */
export const ENTRY_GUARDS: readonly Guard[] = [
  {
    name: 'the result is not attested',
    file: 'GeoAttestation.sol',
    text: 'if (uid == 0 || found.uid != uid) revert AttestationNotFound(uid);',
    error: 'AttestationNotFound',
    nextError: 'AttestationHasOtherSchema',
    attempt: (fixture) => fixture.attempt({ isDirect: true }),
  },
  {
    name: 'the result is attested by the person',
    file: 'WithinEntry.sol',
    text: REQUIRE_RESULT_OF_ENTRY,
    error: 'AttestationHasOtherAttester',
    attempt: (fixture) => fixture.attempt({ from: fixture.person }),
  },
  {
    name: 'the result has another schema',
    file: 'WithinEntry.sol',
    text: REQUIRE_RESULT_OF_ENTRY,
    error: 'AttestationHasOtherSchema',
    attempt: (fixture) => fixture.attempt({ schema: 'other' }),
  },
  {
    name: 'the result is somebody else’s',
    file: 'WithinEntry.sol',
    text: REQUIRE_RESULT_OF_ENTRY,
    error: 'AttestationIsForSomebodyElse',
    attempt: async (fixture) =>
      fixture.attempt({ ref: await fixture.location({ recipient: fixture.stranger }), caller: fixture.stranger }),
  },
  {
    name: 'the result is revoked',
    file: 'WithinEntry.sol',
    text: REQUIRE_RESULT_OF_ENTRY,
    error: 'AttestationNoLongerStands',
    attempt: (fixture) => fixture.attempt({ isRevoked: true }),
  },
  {
    name: 'a used result is attested again',
    file: 'WithinEntry.sol',
    text: 'if (isUsed[identity]) revert ResultAlreadyUsed(identity);',
    error: 'ResultAlreadyUsed',
    attempt: (fixture) => fixture.attempt({ isRepeated: true }),
  },
]
