/** The calls of the contracts behind a gate: their calldata, what they return, and the names of their errors. */
import artefact from '../../../contracts/compiled/WithinGate.json'
import type { IssuerChain } from '../../../src/client/answers.ts'
import { calldata, errorName as nameOfError, paddedWord, uintWord } from '../../../src/client/verify/check-chain.ts'
import { canonicalGeometry } from '../../../src/crypto/canonical.ts'
import { bytesToHex, hexToBytes, utf8 } from '../../../src/crypto/hex.ts'
import { javascriptKeccak } from '../../../src/crypto/noble.ts'
import type { Geometry, Point } from '../../../src/types/generated.ts'
import type { Hex } from '../../../src/wire/values.ts'

/** A transaction for `eth_call` and `eth_sendTransaction`. A deployment has no `to`. */
export interface Transaction {
  readonly from: string
  readonly to?: string
  readonly data: Hex
}

/** `WithinTerms` of contracts/GeoWithin.sol. */
export interface Terms {
  /** Keccak-256 of the canonical GeoJSON of the zone. */
  readonly target: string
  readonly locationSchema: string
  readonly locationAttester: string
  readonly maxRadiusCm: number
  readonly maxAgeSeconds: number
  readonly maxLocationAgeSeconds: number
}

/** The text of `WithinGate.SCHEMA`, which the gate's schema is registered with. */
export const GATE_SCHEMA = 'bool result,bytes32[] inputRefs,uint256 timestamp,string operation'
/** UID of the schema of location attestations, the same on every chain. */
export const LOCATION_SCHEMA = '0xba4171c92572b1e4f241d044c32cdf083be9fd946b8766977558ca6378c824e2'
export const MAX_AGE_SECONDS = 3600
export const MAX_LOCATION_AGE_SECONDS = 7200

const keccak = javascriptKeccak()
const ZERO_WORD = uintWord(0)

/** Returns the reference of a geometry, as it stands in `inputRefs` and in the terms of a gate. */
export function referenceOf(geometry: Geometry): Hex {
  return keccak.hashHex(utf8(canonicalGeometry(geometry))) as Hex
}

/** Returns the initialization code of `WithinGate` with the arguments of its constructor. */
export function deployment(chain: IssuerChain, attester: string, terms: Terms): Hex {
  const { target, locationSchema, locationAttester, maxRadiusCm, maxAgeSeconds, maxLocationAgeSeconds } = terms
  const numbers = [maxRadiusCm, maxAgeSeconds, maxLocationAgeSeconds].map(uintWord)
  const words = [...[chain.registry, attester, target, locationSchema, locationAttester].map(paddedWord), ...numbers]
  return `${artefact.bytecode}${words.join('')}` as Hex
}

/** The immutable values of a `WithinGate`, as words. */
type GateValues = Readonly<Record<keyof typeof artefact.immutableReferences, Hex>>

/**
 * Reads the values that are part of the code of a gate.
 *
 * @param code the code at an address, with `0x`
 * @returns undefined if any other byte differs from the compiled contract, or if a value is not the same at all its places
 */
export function readGateCode(code: string): GateValues | undefined {
  const { deployedBytecode, immutableReferences } = artefact
  const found = code.toLowerCase()
  if (found.length !== deployedBytecode.length) return undefined
  let expected = deployedBytecode
  const values = Object.entries(immutableReferences).map(([name, places]) => {
    const [value] = places.map(({ start, length }) => found.slice(2 + 2 * start, 2 + 2 * (start + length)))
    for (const { start, length } of places)
      expected = expected.slice(0, 2 + 2 * start) + value + expected.slice(2 + 2 * (start + length))
    return [name, `0x${value}`]
  })
  return expected === found ? (Object.fromEntries(values) as GateValues) : undefined
}

/** Returns the UID of the schema of a gate: `keccak256(abi.encodePacked(SCHEMA, gate, true))`. */
export function schemaOf(gate: string): Hex {
  return keccak.hashHex(Uint8Array.from([...utf8(GATE_SCHEMA), ...hexToBytes(gate)!, 1])) as Hex
}

/** Encodes `register` of the schema registry for the schema of a gate: revocable, with the gate as its resolver. */
export function registration(gate: string): Hex {
  const fields = [bytesField(utf8(GATE_SCHEMA)), paddedWord(gate), uintWord(1)]
  return calldata('register(string,address,bool)', encodeTuple(fields), keccak)
}

/** Encodes `attest` of EAS for a location attestation that says: the recipient was at this point at this time. */
export function locationAttestation(recipient: string, point: Point, eventTimestamp: number): Hex {
  const texts = ['EPSG:4326', 'geojson-point', canonicalGeometry(point)].map((text) => bytesField(utf8(text)))
  const empty = bytesField(new Uint8Array()) // an empty list and an empty text have the same encoding
  const data = encodeTuple([uintWord(eventTimestamp), ...texts, empty, empty, empty, empty, empty])
  const bytes = hexToBytes(`0x${data}`)!
  const message = encodeTuple([
    paddedWord(recipient),
    ZERO_WORD, // does not expire
    uintWord(1), // revocable
    ZERO_WORD, // refers to no other attestation
    bytesField(bytes),
    ZERO_WORD, // no value
  ])
  const request = encodeTuple([paddedWord(LOCATION_SCHEMA), { tail: message }])
  const signature = 'attest((bytes32,(address,uint64,bool,bytes32,bytes,uint256)))'
  return calldata(signature, encodeTuple([{ tail: request }]), keccak)
}

/** Encodes a call of a function whose arguments are addresses or words. */
export function plainCall(signature: string, ...args: readonly string[]): Hex {
  return calldata(signature, args.map(paddedWord).join(''), keccak)
}

/** Splits return data into its words, with `0x`. @throws {RangeError} if there are fewer than `count` */
export function wordsOf(returned: Hex, count: number): readonly Hex[] {
  const words = (returned.slice(2).match(/.{64}/g) ?? []).map((word): Hex => `0x${word}`)
  if (words.length < count) throw new RangeError(`the contract returned ${words.length} words instead of ${count}`)
  return words
}

/** Decodes what `terms` of a gate returned. @throws {RangeError} */
export function readTerms(returned: Hex): Terms {
  const [target, locationSchema, attester, radius, age, locationAge] = wordsOf(returned, 6)
  return {
    target: target!,
    locationSchema: locationSchema!,
    locationAttester: addressIn(attester!),
    maxRadiusCm: Number(radius),
    maxAgeSeconds: Number(age),
    maxLocationAgeSeconds: Number(locationAge),
  }
}

/** Returns the address in the last 20 bytes of a word. */
export function addressIn(word: Hex): Hex {
  return `0x${word.slice(26)}`
}

/** A field of a tuple: a word, or what stands behind the words, in hex without `0x`. */
type Field = string | { readonly tail: string }

function encodeTuple(fields: readonly Field[]): string {
  let head = ''
  let tails = ''
  for (const field of fields) {
    head += typeof field === 'string' ? field : uintWord(fields.length * 32 + tails.length / 2)
    if (typeof field !== 'string') tails += field.tail
  }
  return head + tails
}

function bytesField(bytes: Uint8Array): Field {
  const hex = bytesToHex(bytes)
  return { tail: uintWord(bytes.length) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0') }
}

const GATE_ERRORS = artefact.abi.flatMap(({ type, name, inputs = [] }) =>
  type === 'error' ? [`${name}(${inputs.map((input) => input.type).join(',')})`] : [],
)

/** Names the error in the data of a revert: that of the gate or of EAS, or the text that a contract gave. */
export function errorName(revertData: string): string {
  return nameOfError(revertData, keccak, GATE_ERRORS)
}

/** What an error means for the person at the page. */
const MEANINGS: Readonly<Record<string, string>> = {
  ResultIsFalse: 'The service found that the location is outside of the zone.',
  ResultAlreadyUsed: 'This result has opened the gate before. Send the point again for a new result.',
  TimestampTooOld: 'The result or the location is older than the gate allows. Send the point again.',
  TimestampAhead: 'The clock of the service is ahead of the chain by more than a minute.',
  InputIsAnother: 'The result is about another zone than that of the gate.',
  RadiusTooLarge: 'The result has a larger radius than the gate allows.',
  AttestationHasOtherAttester: 'The location was attested by another account than the one that the gate trusts.',
  AttestationIsForSomebodyElse: 'The location attestation is about another account.',
  AttestationNoLongerStands: 'The location attestation was revoked, or has expired.',
  AttestationHasOtherSchema: 'The attestation is not a location attestation of the schema that the gate reads.',
  AttestationNotFound: 'The chain has no attestation with this UID.',
  InvalidSignature: 'Another attestation may have used the nonce of the service meanwhile. Send the point again.',
  DeadlineExpired: 'The signature is too old. Send the point again.',
  InvalidSchema: 'The schema is not registered on this chain.',
}

/** @returns undefined for an error that has no explanation here */
export function errorMeaning(name: string): string | undefined {
  return MEANINGS[name]
}
