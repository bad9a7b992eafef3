/** Stamps, claims and proofs signed with test keys, for tests of the verify API. */

import { publicKeyAddress } from '../src/crypto/address.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { formatSignature } from '../src/crypto/signature.ts'
import { canonicalJson } from './canonical-json.ts'
import { EIFFEL_TOWER } from './fixtures.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests make stamps invalid in every way
export type Loose = Record<string, any>

export const NOW = 1_760_000_000
export const EIFFEL = EIFFEL_TOWER.coordinates
const keccak = await createKeccak()
const secp256k1 = await loadSecp256k1()

/** Returns account number `n`, n ≥ 1: its private key is the number itself. */
export function account(n: number) {
  const privateKey = Uint8Array.from(Buffer.from(n.toString(16).padStart(64, '0'), 'hex'))
  return { privateKey, publicKey: secp256k1.publicKey(privateKey), address: addressOf(privateKey) }
}

function addressOf(privateKey: Uint8Array): string {
  return publicKeyAddress(secp256k1.publicKey(privateKey), keccak)
}

/** Returns the EIP-191 signature of a text by account `n`. */
export function personalSign(text: string, n = 1): string {
  const bytes = Buffer.from(text, 'utf8')
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`)
  return formatSignature(secp256k1.sign(keccak.hash(Buffer.concat([prefix, bytes])), account(n).privateKey))
}

/** Returns the raw ECDSA signature of a digest by account `n`. */
export function signDigest(digest: Uint8Array, n = 1): string {
  return formatSignature(secp256k1.sign(digest, account(n).privateKey))
}

/** Returns the stamp with one EIP-191 signature of account `n` over its canonical text. */
export function signed(stamp: Loose, n = 1): Loose {
  const { signatures: _, ...unsigned } = stamp
  return { ...unsigned, signatures: [signatureOf(canonicalJson(unsigned), n, stamp)] }
}

export function signatureOf(text: string, n: number, stamp: Loose): Loose {
  return {
    signer: { scheme: 'eth-address', value: account(n).address },
    algorithm: 'secp256k1',
    value: personalSign(text, n),
    timestamp: stamp['temporalFootprint'].start,
  }
}

/** Signals of each plugin, consistent with a stamp at `EIFFEL`. */
export const SIGNALS: Readonly<Record<string, Loose>> = {
  mock: { provider: 'mock', latitude: EIFFEL[1], longitude: EIFFEL[0], accuracy: 10 },
  gpsd: {
    source: 'gpsd',
    accuracyMeters: 8,
    mode: 3,
    tpv: {
      class: 'TPV',
      mode: 3,
      status: 1,
      lat: EIFFEL[1],
      lon: EIFFEL[0],
      time: new Date(NOW * 1000).toISOString(),
      epx: 4,
      epy: 5,
    },
    sky: {
      class: 'SKY',
      hdop: 1.1,
      satellites: [1, 2, 3, 4, 5].map((PRN) => ({ PRN, gnssid: 0, used: true, ss: 30 + PRN, el: 10 * PRN })),
    },
  },
  geoclue: { source: 'geoclue2', accuracyMeters: 25, platform: 'linux' },
  'wifi-mls': {
    source: 'wifi',
    accuracyMeters: 40,
    apCount: 2,
    accessPoints: [
      { macAddress: '00:1a:2b:3c:4d:5e', signalStrength: -60 },
      { macAddress: '3c:84:6a:01:02:03', signalStrength: -71 },
    ],
  },
  'ip-geolocation': { source: 'ip-api', accuracyMeters: 25_000, ip: '1.2.3.4', country: 'FR' },
  proofmode: {
    'Location.Latitude': String(EIFFEL[1]),
    'Location.Longitude': String(EIFFEL[0]),
    'Location.Provider': 'gps',
    'Location.Accuracy': '12.5',
    'Location.Time': String(NOW * 1000 + 20_000),
    DateCreated: new Date(NOW * 1000).toISOString(),
    FileHash: 'ab'.repeat(32),
  },
  witnesschain: witnessSignals(),
}

/** The challenger is in Brussels, 263 km away; light needs 1.75 ms for the round trip. */
function witnessSignals(): Loose {
  const challenger = account(9).address
  const challengerClaims = { latitude: 50.8503, longitude: 4.3517, radius: 1000 }
  const pingDelayMicroseconds = 5000
  const said = { id: 'c1', challenger, challengerClaims, challengeSucceeded: true, pingDelayMicroseconds }
  const message = JSON.stringify(said)
  return {
    challengeId: 'c1',
    challenger,
    challengerClaims,
    challengeSucceeded: true,
    pingDelayMicroseconds,
    knowLocUncertaintyKm: 50,
    consolidatedResult: { KnowLoc: true, KnowLocUncertainty: 50, verified: true, maxmind: true },
    challengeResult: { message, signature: personalSign(message, 9), challenger },
  }
}

/** Returns an unsigned stamp at `EIFFEL` for the minute that begins at `NOW`. */
export function unsignedStamp(plugin = 'gpsd', changes: Loose = {}): Loose {
  return {
    lpVersion: '0.2',
    locationType: 'geojson-point',
    location: { type: 'Point', coordinates: [...EIFFEL] },
    srs: 'EPSG:4326',
    temporalFootprint: { start: NOW, end: NOW + 60 },
    plugin,
    pluginVersion: '0.1.0',
    signals: structuredClone(SIGNALS[plugin] ?? {}),
    ...changes,
  }
}

export function stampOf(plugin = 'gpsd', changes: Loose = {}, n = 1): Loose {
  return signed(unsignedStamp(plugin, changes), n)
}

export function claimOf(changes: Loose = {}): Loose {
  return {
    lpVersion: '0.2',
    locationType: 'geojson-point',
    location: { type: 'Point', coordinates: [...EIFFEL] },
    srs: 'EPSG:4326',
    subject: { scheme: 'eth-address', value: account(1).address },
    radius: 100,
    time: { start: NOW - 1800, end: NOW + 1800 },
    ...changes,
  }
}

export function proofOf(stamps: readonly Loose[], claim: Loose = {}): Loose {
  return { claim: claimOf(claim), stamps }
}
