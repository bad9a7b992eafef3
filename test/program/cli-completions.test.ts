import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runCli } from '../cli-runner.ts'

const hasShell = (name: string) => spawnSync(name, ['-c', 'true']).status === 0

describe('trigpoint completions', () => {
  describe.skipIf(!hasShell('bash'))('for bash', () => {
    /** Returns what bash offers for the last word. */
    const offered = async (...words: string[]) => {
      const { out: script } = await runCli(['completions', 'bash'])
      const text = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trigpoint trigpoint "\${COMP_WORDS[COMP_CWORD]}"; printf '%s\\n' "\${COMPREPLY[@]}"`
      const run = spawnSync('bash', ['--norc', '-uc', text, 'bash', 'trigpoint', ...words], { encoding: 'utf8' })
      expect([run.status, run.stderr]).toEqual([0, ''])
      return run.stdout.split('\n').filter((line) => line !== '')
    }

    it('offers every verb of the help, and those of a group', async () => {
      const { out: help } = await runCli(['--help'])
      const verbs = [...help.split(/\n(?:Commands|Examples):/)[1]!.matchAll(/^ {2}([a-z-]+)/gm)].map(
        ([, verb]) => verb!,
      )
      expect(verbs.length).toBeGreaterThan(14)
      expect(await offered('')).toEqual(verbs)
      expect(await offered('comp')).toEqual(['compute', 'completions'])
      expect(await offered('keys', '')).toEqual(['add', 'list', 'revoke', 'help'])
      expect(await offered('records', 'e')).toEqual(['export'])
    })

    it('offers the options of the verb', async () => {
      expect(await offered('batch', '--con')).toEqual(['--concurrency'])
      expect(await offered('keys', 'add', 'internal', '--l')).toEqual(['--label'])
      expect(await offered('serve', '--sample')).toEqual(['--sample-records'])
      expect(await offered('--ver')).toEqual(['--version'])
      expect(await offered('verify', '--con')).toEqual([])
    })

    it('offers the values of options and arguments that have a list, and nothing else there', async () => {
      expect(await offered('batch', 'area', 'in.csv', '--attest', '')).toEqual(['each', 'none'])
      expect(await offered('records', 'list', '--chain', 'base', '--format', 'g')).toEqual(['geojson'])
      expect(await offered('records', 'export', '--format', '')).toEqual(['json', 'geojson', 'csv', 'fgb', 'parquet'])
      expect(await offered('compute', 'd')).toEqual(['distance'])
      // After the operation there are files, which bash completes.
      expect(await offered('compute', 'distance', '')).toEqual([])
      expect(await offered('compute', '--recipient', '0x01', 'ar')).toEqual(['area'])
      expect(await offered('batch', '-o', '')).toEqual([])
      expect(await offered('keys', 'add', '')).toEqual(['developer', 'internal'])
    })
  })

  it.each(['bash', 'zsh', 'fish'])('is a valid script for %s', async (shell) => {
    const { exitCode, out } = await runCli(['completions', shell])
    expect([exitCode, out]).toEqual([0, expect.stringContaining('records')])
    if (!hasShell(shell)) return
    const run = spawnSync(shell, ['-n'], { input: out, encoding: 'utf8' })
    expect([run.status, run.stderr]).toEqual([0, ''])
  })

  it('rejects another shell', async () => {
    expect((await runCli(['completions', 'cmd'])).exitCode).toBe(2)
  })
})
