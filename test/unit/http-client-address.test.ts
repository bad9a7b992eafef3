import { isIPv6 } from 'node:net'
import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/base/ip-address.ts'
import { ConfigError } from '../../src/config/setting.ts'
import { addressKey, clientAddress, isInRanges, parseRanges } from '../../src/http/access/caller.ts'
import { peerAddress } from '../../src/http/transport/connections.ts'

const address = (text: string) => {
  const bytes = parseAddress(text)
  if (bytes === undefined) throw new Error(`${text} is not an address`)
  return bytes
}

describe('parsing addresses', () => {
  it.each([
    ['192.0.2.1', [192, 0, 2, 1]],
    ['::ffff:192.0.2.1', [192, 0, 2, 1]],
    ['::ffff:c000:201', [192, 0, 2, 1]],
    ['::1', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ['::', new Array(16).fill(0)],
    ['2001:db8::ff:1', [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 1]],
    ['fe80::1%eth0', [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
    ['64:ff9b::192.0.2.1', [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1]],
  ])('reads %s', (text, bytes) => {
    expect([...address(text)]).toEqual(bytes)
  })

  it.each(['', 'unknown', '192.0.2', '192.0.2.256', '0x7f.1', '192.0.2.1.', ':::', '1::2::3', '12345::', 'g::'])(
    'rejects %j',
    (text) => {
      expect(parseAddress(text)).toBeUndefined()
    },
  )

  it('reads random IPv6 addresses in the form that URL writes', () => {
    // URL is an independent implementation: it writes IPv6 in its canonical form.
    let seed = 7
    const nextGroup = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return (seed >> 8) & 0xffff
    }
    for (let round = 0; round < 500; round++) {
      const groups = Array.from({ length: 8 }, () => (nextGroup() % 3 === 0 ? 0 : nextGroup()))
      const canonical = new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]/`).hostname.slice(
        1,
        -1,
      )
      expect(isIPv6(canonical)).toBe(true)
      expect([...address(canonical)]).toEqual(groups.flatMap((group) => [group >> 8, group & 0xff]))
    }
  })
})

describe('keys of addresses', () => {
  // Regression: the request before the reset was answered with an exception that ended the process.
  it('exist for a connection that was reset, which has no address any more', () => {
    expect(addressKey(peerAddress({ getRemoteAddress: () => new ArrayBuffer(0) }))).toBe(addressKey(address('0.0.0.0')))
    const bytes = Uint8Array.of(192, 0, 2, 1)
    expect(addressKey(peerAddress({ getRemoteAddress: () => bytes.buffer }))).toBe(addressKey(address('192.0.2.1')))
  })

  it('differ for IPv4 addresses and are the same within a /64 of IPv6', () => {
    expect(addressKey(address('192.0.2.1'))).not.toBe(addressKey(address('192.0.2.2')))
    expect(addressKey(address('::ffff:192.0.2.1'))).toBe(addressKey(address('192.0.2.1')))
    expect(addressKey(address('2001:db8:1:2::1'))).toBe(addressKey(address('2001:db8:1:2:ffff::9')))
    expect(addressKey(address('2001:db8:1:2::1'))).not.toBe(addressKey(address('2001:db8:1:3::1')))
  })
})

describe('ranges', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['::1', '::1', true],
  ])('%s contains %s: %s', (range, text, isIn) => {
    expect(isInRanges(address(text), parseRanges([range]))).toBe(isIn)
  })

  it.each(['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0/8', '::/129', 'proxy', '10.0.0.0/8/8'])(
    'rejects %s',
    (entry) => {
      expect(() => parseRanges([entry])).toThrow(ConfigError)
    },
  )
})

describe('the address of the client', () => {
  const trusted = parseRanges(['10.0.0.0/8', '::1'])
  const client = (peer: string, forwardedFor: string | undefined) =>
    Buffer.from(clientAddress(address(peer), forwardedFor, trusted)).join('.')

  it.each([
    ['ignores the header of an untrusted peer', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['comes from the header of a trusted proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['ignores entries left of the client, which it can invent', '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['skips proxies behind proxies', '10.0.0.1', '198.51.100.1,10.0.0.2 , 10.0.0.3', '198.51.100.1'],
    ['is the first proxy when all entries are proxies', '10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['leaves out a port', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['stops at an entry that is not an address', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['stops at such an entry behind a proxy too', '10.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['is the peer without a header', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the peer for an empty header', '10.0.0.1', '', '10.0.0.1'],
  ])('%s', (_name, peer, forwardedFor, expected) => {
    expect(client(peer, forwardedFor)).toBe(expected)
  })

  it('may be IPv6 with brackets and a port', () => {
    const bytes = clientAddress(address('::1'), '[2001:db8::5]:443', trusted)
    expect([...bytes]).toEqual([...address('2001:db8::5')])
  })
})
