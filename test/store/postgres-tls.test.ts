/** TLS to a PostgreSQL server, as docs/operations.md describes the parameters of `DATABASE_URL`. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { openPostgresForCommand } from '../../src/store/postgres.ts'

/** User ID of `nobody` on Debian, which runs the server if the test runs as root. */
const NOBODY_UID = 65_534

describe.runIf(ENGINES.includes('postgres'))('TLS to a PostgreSQL server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-database-tls-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  let cluster: PostgresCluster

  beforeAll(async () => {
    const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', ['req', '-x509', ...keyOptions, ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    })
    chmodSync(key, 0o600)
    chmodSync(folder, 0o755)
    if (userInfo().uid === 0) chownSync(key, NOBODY_UID, NOBODY_UID)
    cluster = await startCluster({ fsync: 'off', ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key })
  })
  afterAll(async () => {
    await cluster?.remove()
    rmSync(folder, { recursive: true })
  })

  /** Whether the connection has TLS, or why there is none. */
  async function connect(query: string, host = 'localhost'): Promise<unknown> {
    const url = `${cluster.url.replace('127.0.0.1', host)}?${query}`
    try {
      const database = await openPostgresForCommand(url, 10_000, 10_000)
      try {
        const [row] = await database.reads.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
        return row!['ssl']
      } finally {
        await database.close()
      }
    } catch (error) {
      return (error as Error).message
    }
  }

  it('is used only if the address of the database says so', async () => {
    expect(await connect('')).toBe(false)
    expect(await connect('sslmode=disable')).toBe(false)
    expect(await connect('sslmode=no-verify')).toBe(true)
    expect(await connect('uselibpqcompat=true&sslmode=require')).toBe(true)
  })

  it('needs a certificate that Node.js or sslrootcert trusts, and that names the host', async () => {
    expect(await connect('sslmode=verify-full')).toMatch(/self-signed certificate/)
    expect(await connect(`sslmode=verify-full&sslrootcert=${certificate}`)).toBe(true)
    expect(await connect(`sslmode=verify-full&sslrootcert=${certificate}`, '127.0.0.1')).toMatch(/127\.0\.0\.1/)
  })
})
