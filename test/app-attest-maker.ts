/** Makes App Attest objects as Apple's servers issue them, under a test root. */

import { createHash, type KeyObject } from 'node:crypto'
import { certificate, ellipticKey, extension, type Maker } from './certificates.ts'
import { explicit, octets, sequence } from './der-writer.ts'

export const APP_ID = 'ABCDE12345.org.example.camera'

export interface AppAttestOptions {
  readonly appId?: string
  readonly counter?: number
  readonly aaguid?: string
  readonly credentialId?: Uint8Array
  readonly nonce?: Uint8Array
  readonly fmt?: string
  readonly key?: KeyObject
}

/** @returns the attestation object of a key that was made for these 32 bytes */
export function appAttestation(
  { authority, above }: Maker,
  clientDataHash: Uint8Array,
  options: AppAttestOptions = {},
) {
  const key = options.key ?? ellipticKey().publicKey
  const keyId = createHash('sha256').update(pointOf(key)).digest()
  const credentialId = options.credentialId ?? keyId
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(options.counter ?? 0)
  const authData = Buffer.concat([
    createHash('sha256')
      .update(options.appId ?? APP_ID)
      .digest(),
    Buffer.of(0x40),
    counter,
    Buffer.from(options.aaguid ?? 'appattest\0\0\0\0\0\0\0', 'latin1'),
    Buffer.of(credentialId.length >> 8, credentialId.length & 0xff),
    credentialId,
    cbor(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
      ]),
    ),
  ])
  const nonce = options.nonce ?? createHash('sha256').update(authData).update(clientDataHash).digest()
  const leaf = certificate(
    {
      subject: keyId.toString('hex'),
      issuer: 'Authority',
      key,
      extensions: [extension('1.2.840.113635.100.8.2', sequence(explicit(1, octets(nonce))))],
    },
    authority.privateKey,
  )
  // Apple omits the root.
  const x5c = [leaf, ...above.slice(0, -1)]
  const object = new Map<string, Cbor>([
    ['fmt', options.fmt ?? 'apple-appattest'],
    [
      'attStmt',
      new Map<string, Cbor>([
        ['x5c', x5c],
        ['receipt', Buffer.from('receipt')],
      ]),
    ],
    ['authData', authData],
  ])
  return { attestation: cbor(object).toString('base64'), keyId: keyId.toString('base64') }
}

function pointOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

export type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<string | number, Cbor>

export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, member]) => [cbor(key), cbor(member)])])
  }
  const items = value as readonly Cbor[]
  return Buffer.concat([head(4, items.length), ...items.map(cbor)])
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value)
  if (value < 256) return Buffer.of((major << 5) | 24, value)
  return Buffer.of((major << 5) | 25, value >> 8, value & 0xff)
}
