import { describe, expect, it } from 'vitest'
import { readDeviceTrust } from '../../src/verify/device/trust.ts'
import { pemOf, rsaKey } from '../certificates.ts'

describe('a device trust file', () => {
  it('accepts every spelling of serial numbers and fingerprints', () => {
    const pem = pemOf(rsaKey().publicKey)
    const trust = readDeviceTrust(
      JSON.stringify({
        androidRoots: [pem],
        appleAppIds: ['A.b'],
        revokedSerials: ['0x0A:0B'],
        revoked: { entries: { c35747a084470c3135aeefe2b8d40cd6: { status: 'REVOKED' } } },
        pgpFingerprints: ['abcd '.repeat(10)],
      }),
    )
    expect(trust).toEqual({
      androidRoots: [pem],
      appleRoots: [],
      androidPackages: [],
      androidSigners: [],
      appleAppIds: ['A.b'],
      allowDevelopmentApps: false,
      revokedSerials: ['a0b', 'c35747a084470c3135aeefe2b8d40cd6'],
      pgpFingerprints: ['ABCD'.repeat(10)],
    })
  })

  it.each([
    ['{', 'not JSON'],
    ['[]', 'must be an object'],
    ['{"androidRoot":[]}', 'no such member'],
    ['{"androidRoots":"x"}', 'androidRoots'],
    ['{"androidRoots":["x"]}', 'root 1'],
    [JSON.stringify({ appleRoots: [pemOf(rsaKey(1024).publicKey)] }), '1024 bits'],
    ['{"revokedSerials":["xyz"]}', 'revokedSerials'],
    ['{"revoked":{}}', 'entries'],
    ['{"pgpFingerprints":["abc"]}', 'pgpFingerprints'],
    ['{"allowDevelopmentApps":1}', 'allowDevelopmentApps'],
  ])('is rejected when invalid: %s', (text, reason) => {
    expect(() => readDeviceTrust(text)).toThrow(reason)
  })
})
