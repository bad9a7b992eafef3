import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { misspeltSettings } from '../../src/cli/misspelt-settings.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')
/** Names in the first column of the page's table. */
const DOCUMENTED = PAGE.split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))

describe('misspelt settings', () => {
  it.each([
    ['RECODRS', 'RECORDS'],
    ['PLUGIN', 'PLUGINS'],
    ['LOG_SAMPLE_RATION', 'LOG_SAMPLE_RATIO'],
    ['ALOW_DEV_KEY', 'ALLOW_DEV_KEY'],
    ['SIGNER_PRIVTE_KEY', 'SIGNER_PRIVATE_KEY'],
    ['HOSTS', 'HOST'],
    ['RPC_URLS_84532', 'RPC_URL_84532'],
    ['RPC_URL', 'RPC_URL_<chainId>'],
    ['max_body_bytes', 'MAX_BODY_BYTES'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['SIGN_IN_DOMAIN', 'SIGN_IN_DOMAINS'],
    ['RATE_LIMIT', 'RATE_LIMIT_PUBLIC'],
    ['RPC_TIMEOUT', 'RPC_TIMEOUT_MS'],
  ])('get a suggestion: %s is probably %s', (name, meant) => {
    expect(misspeltSettings({ [name]: 'secret' })).toEqual([{ name, meant }])
  })

  it('do not include names that other programs read', () => {
    const names = [
      'HOME',
      'PATH',
      'LANG',
      'PWD',
      'TERM',
      'USER',
      'SHELL',
      'SHLVL',
      'OLDPWD',
      'HOSTNAME',
      'TZ',
      'NODE_OPTIONS',
    ]
    const others = [
      'LC_ALL',
      'TMPDIR',
      'EDITOR',
      'PS1',
      'npm_config_host',
      'NODE_PATH',
      'CI',
      'LOGNAME',
      'SSH_TTY',
      'UV_THREADPOOL_SIZE',
      'PGHOST',
      'PGPORT',
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'NO_PROXY',
      'ALL_PROXY',
      'NODE_VERSION',
      'NODE_EXTRA_CA_CERTS',
      'LOG_LEVEL',
      'DATABASE_NAME',
      'KUBERNETES_PORT',
      'KUBERNETES_SERVICE_HOST',
      'TRIGPOINT_URL',
      'TRIGPOINT_API_KEY',
      'INVOCATION_ID',
      'JOURNAL_STREAM',
      'STATE_DIRECTORY',
      'XDG_DATA_DIRS',
      'XDG_RUNTIME_DIR',
      'DBUS_SESSION_BUS_ADDRESS',
    ]
    expect(misspeltSettings(Object.fromEntries([...names, ...others].map((name) => [name, '1'])))).toEqual([])
  })

  it('do not include documented settings', () => {
    const names = DOCUMENTED.map((name) => name.replace('<chainId>', '84532'))
    expect(names.length).toBeGreaterThan(60)
    expect(misspeltSettings(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual([])
    // Each name is in the list of known settings, not merely unlike all others: with one letter added, it is suggested.
    for (const name of DOCUMENTED.filter((name) => !name.includes('<'))) {
      expect(misspeltSettings({ [`${name}X`]: '1' }), name).toEqual([{ name: `${name}X`, meant: name }])
    }
  })
})
