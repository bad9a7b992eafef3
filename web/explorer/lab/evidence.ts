/** Creates the evidence of the proof lab: stamps signed with keys of this page, so that each kind of error can be tried. */
import { publicKeyAddress } from '../../../src/crypto/address.ts'
import { canonicalBytes } from '../../../src/crypto/canonical.ts'
import { utf8 } from '../../../src/crypto/hex.ts'
import { javascriptKeccak, loadNoble } from '../../../src/crypto/noble.ts'
import type { Secp256k1 } from '../../../src/crypto/primitives.ts'
import { formatSignature, personalMessage } from '../../../src/crypto/signature.ts'
import type { EvidenceProof, LocationStamp } from '../../../src/types/generated.ts'
import type { LonLat } from '../geo/shape.ts'

export const PLUGINS = ['gpsd', 'geoclue', 'wifi-mls', 'ip-geolocation', 'proofmode', 'witnesschain', 'mock'] as const
export type PluginName = (typeof PLUGINS)[number]
export type Signer = 'subject' | 'stranger' | 'nobody'

export interface LabStamp {
  readonly id: number
  readonly plugin: PluginName
  readonly place: LonLat
  readonly accuracyMeters: number
  /** Seconds after the start of the claim; negative before it. */
  readonly startSeconds: number
  readonly lastsSeconds: number
  readonly signer: Signer
  /** Whether the stamp is changed after it is signed. */
  readonly isForged: boolean
  /** A stamp from a file, which is sent without changes. */
  readonly given?: LocationStamp
}

export interface LabState {
  readonly place: LonLat
  readonly radiusMeters: number
  readonly startSeconds: number
  readonly lastsSeconds: number
  readonly stamps: readonly LabStamp[]
}

const keccak = javascriptKeccak()

interface Account {
  readonly key: Uint8Array
  readonly address: string
}

/** Signs stamps with three keys that are created when the page is opened: the subject's, a stranger's and a network witness's. */
export class EvidenceMaker {
  readonly #secp256k1: Secp256k1
  readonly #accounts: Readonly<Record<'subject' | 'stranger' | 'witness', Account>>

  constructor(secp256k1: Secp256k1) {
    this.#secp256k1 = secp256k1
    const account = (): Account => {
      const key = crypto.getRandomValues(new Uint8Array(32))
      key[0]! &= 0x7f // clears the top bit, so that the key is below the group order
      return { key, address: publicKeyAddress(secp256k1.publicKey(key), keccak) }
    }
    this.#accounts = { subject: account(), stranger: account(), witness: account() }
  }

  static async create(): Promise<EvidenceMaker> {
    return new EvidenceMaker(await loadNoble())
  }

  proof(state: LabState): EvidenceProof {
    return {
      claim: {
        lpVersion: '0.2',
        locationType: 'geojson-point',
        location: { type: 'Point', coordinates: [...state.place] },
        srs: 'EPSG:4326',
        subject: { scheme: 'eth-address', value: this.#accounts.subject.address },
        radius: state.radiusMeters,
        time: { start: state.startSeconds, end: state.startSeconds + state.lastsSeconds },
      },
      stamps: state.stamps.map((stamp) => stamp.given ?? this.#stamp(stamp, state)),
    }
  }

  #stamp(stamp: LabStamp, state: LabState): LocationStamp {
    const start = state.startSeconds + stamp.startSeconds
    const unsigned = {
      lpVersion: '0.2' as const,
      locationType: 'geojson-point',
      location: { type: 'Point' as const, coordinates: [...stamp.place] as [number, number] },
      srs: 'EPSG:4326',
      temporalFootprint: { start, end: start + stamp.lastsSeconds },
      plugin: stamp.plugin,
      pluginVersion: '0.1.0',
      signals: this.#signals(stamp, start),
    }
    if (stamp.signer === 'nobody') return { ...unsigned, signatures: [] }
    const account = this.#accounts[stamp.signer]
    const signed = {
      ...unsigned,
      signatures: [
        {
          signer: { scheme: 'eth-address', value: account.address },
          algorithm: 'secp256k1',
          value: this.#personalSign(canonicalBytes(unsigned), account),
          timestamp: start,
        },
      ],
    }
    return stamp.isForged ? { ...signed, temporalFootprint: { start, end: start + stamp.lastsSeconds + 1 } } : signed
  }

  #personalSign(bytes: Uint8Array, { key }: Account): string {
    const digest = keccak.hash(personalMessage(bytes))
    return formatSignature(this.#secp256k1.sign(digest, key))
  }

  /** Returns signals as the source of the evidence would report them, consistent with the stamp. */
  #signals({ plugin, place: [longitude, latitude], accuracyMeters }: LabStamp, start: number): Record<string, unknown> {
    switch (plugin) {
      case 'gpsd':
        return {
          source: 'gpsd',
          accuracyMeters,
          mode: 3,
          tpv: {
            class: 'TPV',
            mode: 3,
            status: 1,
            lat: latitude,
            lon: longitude,
            time: new Date(start * 1000).toISOString(),
          },
        }
      case 'geoclue':
        return { source: 'geoclue2', accuracyMeters, platform: 'linux' }
      case 'wifi-mls':
        return {
          source: 'wifi',
          accuracyMeters,
          apCount: 2,
          accessPoints: [
            { macAddress: '00:1a:2b:3c:4d:5e', signalStrength: -60 },
            { macAddress: '3c:84:6a:01:02:03', signalStrength: -71 },
          ],
        }
      case 'ip-geolocation':
        return { source: 'ip-api', accuracyMeters: Math.max(1000, accuracyMeters), ip: '9.9.9.9' }
      case 'proofmode':
        return {
          'Location.Latitude': String(latitude),
          'Location.Longitude': String(longitude),
          'Location.Provider': 'gps',
          'Location.Accuracy': String(accuracyMeters),
          'Location.Time': String(start * 1000),
          DateCreated: new Date(start * 1000).toISOString(),
        }
      case 'witnesschain':
        return this.#challenge(longitude, latitude)
      case 'mock':
        return { provider: 'mock', latitude, longitude, accuracy: accuracyMeters }
    }
  }

  /** Signals of a witness about 110 km to the north that measured 5 ms; light travels 750 km and back in that time. */
  #challenge(longitude: number, latitude: number): Record<string, unknown> {
    const { address } = this.#accounts.witness
    const challengerClaims = { latitude: Math.min(89, latitude + 1), longitude, radius: 1000 }
    const result = {
      id: 'lab',
      challenger: address,
      challengerClaims,
      challengeSucceeded: true,
      pingDelayMicroseconds: 5000,
    }
    const message = JSON.stringify(result)
    return {
      challengeId: 'lab',
      challenger: address,
      challengerClaims,
      challengeSucceeded: true,
      pingDelayMicroseconds: 5000,
      knowLocUncertaintyKm: 50,
      consolidatedResult: { KnowLoc: true, KnowLocUncertainty: 50, verified: true },
      challengeResult: {
        message,
        signature: this.#personalSign(utf8(message), this.#accounts.witness),
        challenger: address,
      },
    }
  }
}
