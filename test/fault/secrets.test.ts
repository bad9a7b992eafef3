import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService } from '../service.ts'

// A public test account of anvil, easy to search for.
const PRIVATE_KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

it('keeps the signing key out of logs, responses, the heap of the main thread and /proc', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-heap-'))
  const service = await startTestService({
    SIGNER_PRIVATE_KEY: `0x${PRIVATE_KEY}`,
    LOG_SAMPLE_RATIO: '1',
    NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`,
  })
  try {
    expect(service.attester).toBe(ADDRESS)
    const point = { type: 'Point', coordinates: [0, 0] }
    const bodies = ['', '{', '[]', { chainId: 84532, from: point, to: point }, { chainId: 1 }]
    const answers = []
    for (const body of bodies) answers.push(JSON.stringify((await service.post('/compute/v0/distance', body)).body))
    process.kill(service.pid, 'SIGUSR2')
    const snapshot = await eventually(
      () => {
        const [file] = readdirSync(folder).filter((name) => name.endsWith('.heapsnapshot'))
        const text = readFileSync(join(folder, file!), 'latin1')
        expect(text.endsWith('}')).toBe(true) // written completely
        return text
      },
      { interval: 200 },
    )
    // The snapshot holds the strings of this heap, so the key would be found if it were there.
    expect(snapshot).toContain(ADDRESS)
    for (const text of [snapshot, service.lines.join('\n'), ...answers]) {
      expect(text.toLowerCase().includes(PRIVATE_KEY)).toBe(false)
    }
    if (process.platform === 'linux') {
      const environment = readFileSync(`/proc/${service.pid}/environ`, 'latin1')
      expect(environment).toContain('SIGNER_PRIVATE_KEY=')
      expect(environment.toLowerCase().includes(PRIVATE_KEY)).toBe(false)
    }
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

it('refuses to sign in production with a generated key, and names the settings that fix it', async () => {
  const failure = startTestService({ NODE_ENV: 'production' })
  await expect(failure).rejects.toThrow(/the service ended with 78/)
  await expect(failure).rejects.toThrow(/SIGNER_PRIVATE_KEY.*ALLOW_DEV_KEY/)
})
