import { describe, expect, it } from 'vitest'
import { serviceUrl } from '../../src/cli/options.ts'

describe('the service that a command asks', () => {
  it.each([
    [{}, 'http://127.0.0.1:3000'],
    [{ PORT: '8080' }, 'http://127.0.0.1:8080'],
    [{ PORT: '8080', HOST: '0.0.0.0' }, 'http://127.0.0.1:8080'],
    [{ PORT: '8080', HOST: '::' }, 'http://127.0.0.1:8080'],
    [{ HOST: '::1', PORT: '8080' }, 'http://[::1]:8080'],
    [{ HOST: '192.0.2.7' }, 'http://192.0.2.7:3000'],
    // Any free port.
    [{ PORT: '0' }, 'http://127.0.0.1:3000'],
    [{ PORT: '', HOST: '', TRIGPOINT_URL: '' }, 'http://127.0.0.1:3000'],
    [{ PORT: '8080', TRIGPOINT_URL: 'https://geo.example' }, 'https://geo.example'],
  ])('is, with %j, the one at %s', (env, url) => {
    expect(serviceUrl({}, { env })).toBe(url)
    expect(serviceUrl({ url: 'http://127.0.0.1:1' }, { env })).toBe('http://127.0.0.1:1')
  })

  it('has to be a URL, whatever its settings are', () => {
    expect(() => serviceUrl({}, { env: { PORT: '99999' } })).toThrow(
      /"http:\/\/127\.0\.0\.1:99999" is not the URL of a service/,
    )
  })
})
