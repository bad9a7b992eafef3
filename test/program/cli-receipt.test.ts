import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder, runCli } from '../cli-runner.ts'
import { createAnswers } from '../client-answers.ts'

const folder = cliFolder()
afterAll(() => folder.remove())

const EIFFEL = '2.2945,48.8584'
const TOWN_HALL = '2.3522,48.8566'
const answers = await createAnswers()
const file = join(folder.path, 'answer.json')
writeFileSync(file, answers.numeric)
const inputs = ['--geometry', EIFFEL, '--geometry', TOWN_HALL]

async function makeReceipt(...argv: string[]): Promise<string> {
  const { exitCode, out, err } = await runCli([
    'receipt',
    file,
    '--url',
    'https://geo.example.org/',
    ...inputs,
    ...argv,
  ])
  expect([exitCode, err]).toEqual([0, ''])
  return out.trim()
}

describe('trigpoint receipt', () => {
  it('prints an address, from a file or from standard input', async () => {
    const address = await makeReceipt()
    expect(address).toMatch(/^https:\/\/geo\.example\.org\/verify#r=[\w-]+$/)
    expect(JSON.parse(await makeReceipt('--json'))).toEqual({ receipt: address })
    const piped = await runCli(['receipt', ...inputs], {
      input: answers.numeric,
      env: { TRIGPOINT_URL: 'https://geo.example.org' },
    })
    expect(piped.out.trim()).toBe(address)
    expect((await runCli(['receipt', file])).out).toMatch(/^http:\/\/127\.0\.0\.1:3000\/verify#r=/)
  })

  it('checks an address, with and without an expected signer', async () => {
    const address = await makeReceipt()
    for (const argv of [
      ['receipt', '--read', address],
      ['verify', address],
    ]) {
      const trusted = await runCli([...argv, '--attester', answers.attester])
      expect(trusted.exitCode).toBe(0)
      expect(trusted.out).toContain('✓ recomputed')
      expect(trusted.out).toContain(`It is valid, signed by ${answers.attester} for chain 84532.`)
      const anyone = await runCli(argv)
      expect(anyone.exitCode).toBe(6)
      expect(JSON.parse((await runCli([...argv, '--json'])).out)).toMatchObject({ ok: true, signerChecked: false })
      expect(anyone.out).toContain('but anyone may have signed it')
      expect(anyone.out).not.toMatch(/It is valid/)
      const other = await runCli([...argv, '--attester', `0x${'12'.repeat(20)}`])
      expect(other.exitCode).toBe(1)
      expect(other.out).toContain('which is not an expected signer')
      expect(other.out).not.toMatch(/It is valid/)
      const json = await runCli([...argv, '--attester', answers.attester, '--json'])
      expect(JSON.parse(json.out)).toMatchObject({ ok: true, status: 'valid', signerChecked: true })
      // The deadline is over.
      const late = await runCli([...argv, '--attester', answers.attester], { nowMs: 2_000_000_000_000 })
      expect(late.exitCode).toBe(0)
    }
  })

  it('says where a damaged address is wrong', async () => {
    const address = await makeReceipt()
    const cut = await runCli(['verify', address.slice(0, -20)])
    expect(cut.exitCode).toBe(1)
    expect(cut.out).toContain('✗ form  the receipt is cut off or was changed')
    expect(cut.out).toContain('It does not hold.')
    const hostile = await runCli(['receipt', '--read', `${address.slice(0, 60)}\u001b[2J`])
    expect(hostile.out).toContain('character 28 of the receipt')
    expect(hostile.out).not.toContain('\u001b')
  })

  it('writes no control characters of an answer to the terminal', async () => {
    const hostile = JSON.stringify({ ...JSON.parse(answers.numeric), '\u001b[2J\u202e': 1 })
    for (const input of [hostile, `${answers.numeric}\n${hostile}\n`]) {
      const { exitCode, out } = await runCli(['verify', '-'], { input })
      expect(exitCode).toBe(1)
      expect(out).toContain('\\u001b[2J\\u202e')
      for (const character of ['\u001b', '\u202e']) expect(out).not.toContain(character)
    }
  })

  it('makes no receipt of what does not hold', async () => {
    const run = (input: string, ...argv: string[]) => runCli(['receipt', '-', ...argv], { input })
    const lying = await run(answers.lying)
    expect([lying.exitCode, lying.out]).toEqual([1, ''])
    expect(lying.err).toContain('so no receipt was made: values: result is 4238.78')
    const swapped = await run(answers.numeric, '--geometry', TOWN_HALL, '--geometry', EIFFEL)
    expect(swapped.exitCode).toBe(1)
    expect(swapped.err).toContain('inputs: input 1 has the reference')
    const batch = await run(JSON.stringify(await answers.merkleBatch()))
    expect(batch.exitCode).toBe(2)
    expect(batch.err).toContain('is signed together with others')
    expect((await run('{')).exitCode).toBe(2)
    expect((await run('[]')).err).toContain('not a JSON object')
    expect((await run(answers.numeric, '--url', 'ftp://x')).err).toContain('is not the URL of a service')
    expect((await run(answers.numeric, '--issuer', 'x')).err).toContain('need --read')
    expect((await runCli(['receipt', '--read', 'answer.json'])).err).toContain('has no receipt')
  })
})
