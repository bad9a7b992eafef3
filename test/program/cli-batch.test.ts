import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JSON_LINES } from '../../src/cli/batch/output-format.ts'
import { FileWriter } from '../../src/cli/batch/writer.ts'
import { abortAtRead, cliFolder, type Run, type RunOptions, runCli } from '../cli-runner.ts'

const ITEMS = 2000
const UNREAD = { row: undefined, value: undefined }
const lines = Array.from({ length: ITEMS }, (_, index) => {
  return `{"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,${(index + 1) / ITEMS}],[0,0]]]}}\n`
})

describe('a batch in this process', () => {
  let folder: ReturnType<typeof cliFolder>
  beforeEach(() => {
    folder = cliFolder()
    writeFileSync(path('in.ndjson'), lines.join(''))
  })
  afterEach(() => folder.remove())

  const path = (name: string) => join(folder.path, name)
  const output = () => readFileSync(path('out.ndjson'), 'utf8')
  const batch = (options: RunOptions = {}, ...more: string[]): Promise<Run> => {
    const env = { DATA_DIR: path('.data') }
    return runCli(['batch', 'area', path('in.ndjson'), '-o', path('out.ndjson'), '--local', ...more], {
      env,
      ...options,
    })
  }
  /** Runs a batch that is aborted while it works: at the eighth read of `signal.aborted`, of which it has one for each group. */
  const interrupted = (...more: string[]) => {
    const signal = abortAtRead(8)
    return batch({ signal }, ...more)
  }

  // Regression: the longitude 0 of a fixed input was taken for a reference to the first coordinates of the line.
  it.each([0, 1, 2, 2.35])('computes with the fixed input of --with at longitude %d', async (longitude) => {
    const point = (lon: number) => `{"type":"Point","coordinates":[${lon},20]}`
    const three = `{"type":"GeometryCollection","geometries":[${[50, 60, 70].map(point).join(',')}]}`
    writeFileSync(path('points.ndjson'), `${point(10)}\n${three}\n`)
    const run = async (attest: string) => {
      const argv = ['batch', 'distance', path('points.ndjson'), '--with', `to=${longitude},51.5`, '--local']
      const { out, exitCode } = await runCli([...argv, '--attest', attest], { env: { DATA_DIR: path('.data') } })
      expect(exitCode).toBe(0)
      return out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    const unsigned = await run('none')
    const signed = await run('each')
    expect(unsigned).toHaveLength(2)
    for (const [index, { result, inputRefs }] of unsigned.entries()) {
      expect(result).toBeGreaterThan(3e6)
      expect([result, inputRefs]).toEqual([signed[index].result, signed[index].inputRefs])
    }
  })

  it.each([
    ['signed', []],
    ['unsigned', ['--attest', 'none']],
  ])('says how to resume when it is interrupted, and then gives the output of a whole run, %s', async (_kind, more) => {
    const first = await interrupted(...more)
    expect(first.exitCode).toBe(130)
    expect(first.err).toMatch(
      /^[\d,]+ items are done: run the same command again to resume\ntrigpoint: ended by SIGINT\n$/,
    )
    const { checkpoint } = JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8'))
    expect(checkpoint.items).toBeGreaterThan(10)
    expect(checkpoint.items).toBeLessThan(ITEMS)
    expect(checkpoint.outputBytes).toBe(Buffer.byteLength(output()))
    const second = await batch({}, ...more)
    expect([second.exitCode, second.err]).toEqual([
      0,
      `resuming after item ${checkpoint.items.toLocaleString('en-US')}\n`,
    ])
    expect(existsSync(path('out.ndjson.part'))).toBe(false)
    const parts = output()
    expect((await batch({}, '--restart', ...more)).exitCode).toBe(0)
    expect(output()).toBe(parts)
    expect(parts.split('\n')).toHaveLength(ITEMS + 1)
  })

  it('truncates output written after the last checkpoint', async () => {
    await interrupted()
    const saved = output()
    writeFileSync(path('out.ndjson'), `${saved}{"id":77,"half a li`)
    expect((await batch()).exitCode).toBe(0)
    expect(output().startsWith(saved)).toBe(true)
    expect(
      output()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id),
    ).toEqual(lines.map((_, index) => index + 1))
  })

  it('does not resume with another command, another input or a damaged journal', async () => {
    await interrupted()
    const other = await batch({}, '--attest', 'none')
    expect([other.exitCode, other.err]).toEqual([
      2,
      expect.stringContaining('the interrupted run had a different command'),
    ])
    writeFileSync(path('in.ndjson'), lines.slice(1).join(''))
    const changed = await batch()
    expect([changed.exitCode, changed.err]).toEqual([
      2,
      expect.stringContaining('the interrupted run had a different input'),
    ])
    writeFileSync(path('in.ndjson'), lines.join(''))
    const saved = readFileSync(path('out.ndjson.part'), 'utf8')
    writeFileSync(path('out.ndjson.part'), saved.slice(0, 50))
    expect((await batch()).err).toContain('not a batch journal')
    const otherProcess = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)', 'trigpoint'], {
      stdio: 'ignore',
    })
    writeFileSync(path('out.ndjson.part'), JSON.stringify({ ...JSON.parse(saved), pid: otherProcess.pid }))
    expect((await batch()).err).toContain(`in use by process ${otherProcess.pid}`)
    otherProcess.kill('SIGKILL')
    writeFileSync(path('out.ndjson.part'), saved)
    writeFileSync(path('out.ndjson'), '')
    expect((await batch()).err).toContain('shorter than the interrupted run left it')
    expect((await batch({}, '--restart')).exitCode).toBe(0)
  })

  it('does not restart while another process runs it, nor overwrite its own input or errors file', async () => {
    await interrupted()
    const saved = readFileSync(path('out.ndjson.part'), 'utf8')
    const otherProcess = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)', 'trigpoint'], {
      stdio: 'ignore',
    })
    writeFileSync(path('out.ndjson.part'), JSON.stringify({ ...JSON.parse(saved), pid: otherProcess.pid }))
    const run = await batch({}, '--restart')
    expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining(`in use by process ${otherProcess.pid}`)])
    otherProcess.kill('SIGKILL')
    for (const [name, errors] of [
      ['in.ndjson', 'e.ndjson'],
      ['out.ndjson', 'in.ndjson'],
      ['same.ndjson', './same.ndjson'],
    ] as const) {
      const argv = ['batch', 'area', path('in.ndjson'), '-o', path(name), '--errors', `${folder.path}/${errors}`]
      expect((await runCli([...argv, '--local', '--restart'], { env: { DATA_DIR: path('.data') } })).exitCode).toBe(2)
    }
    expect(readFileSync(path('in.ndjson'), 'utf8')).toBe(lines.join(''))
  })

  it('does not resume when the part already read was changed, even with the same size and beginning', async () => {
    const wide = lines.map((line) => `${line.slice(0, -1)}${' '.repeat(1500)}\n`)
    writeFileSync(path('in.ndjson'), wide.join(''))
    await interrupted()
    const { checkpoint } = JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8'))
    expect(checkpoint.items).toBeGreaterThan(60)
    writeFileSync(path('in.ndjson'), wide.with(55, wide[55]!.replace('[1,0]', '[2,0]')).join(''))
    const other = await batch()
    expect([other.exitCode, other.err]).toEqual([2, expect.stringContaining('not the input of the interrupted run')])
    writeFileSync(path('in.ndjson'), wide.join(''))
    expect((await batch()).exitCode).toBe(0)
    expect(output().split('\n')).toHaveLength(ITEMS + 1)
  })

  it('belongs to the resuming process from the start', () => {
    const files = { output: path('out.ndjson'), errors: path('e.ndjson'), format: JSON_LINES }
    const identity = { request: 'r', inputBytes: 1, inputHead: 'h' }
    const checkpoint = { items: 0, failed: 0, outputBytes: 0, errorBytes: 0 }
    writeFileSync(path('out.ndjson.part'), JSON.stringify({ version: 1, pid: 2 ** 22 + 1, ...identity, checkpoint }))
    const writer = new FileWriter(
      files,
      identity,
      false,
      () => 0,
      () => undefined,
    )
    expect(JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8')).pid).toBe(process.pid)
    writer.close(true)
  })

  it('overwrites nothing until the first response', async () => {
    await interrupted()
    const [results, journal] = [output(), readFileSync(path('out.ndjson.part'), 'utf8')]
    writeFileSync(path('in.ndjson'), `{"no input":1}\n${lines.join('')}`)
    // No service listens there; the first line is rejected without a request.
    const unreachable = [
      'batch',
      'area',
      path('in.ndjson'),
      '-o',
      path('out.ndjson'),
      '--restart',
      '--url',
      'http://127.0.0.1:9',
    ]
    const run = await runCli(unreachable)
    expect([run.exitCode, run.err]).toEqual([3, expect.stringContaining('no results yet: the files are unchanged')])
    expect(output()).toBe(results)
    expect(JSON.parse(readFileSync(path('out.ndjson.part'), 'utf8'))).toEqual({
      ...JSON.parse(journal),
      pid: process.pid,
    })
    // The interrupted run can still be resumed, and a finished one stays finished.
    writeFileSync(path('in.ndjson'), lines.join(''))
    expect((await batch()).exitCode).toBe(0)
    const finished = output()
    expect(finished.split('\n')).toHaveLength(ITEMS + 1)
    mkdirSync(path('damaged'))
    writeFileSync(path('damaged/dev-signer.json'), 'nonsense')
    expect((await batch({}, '--restart', '--data', path('damaged'))).exitCode).not.toBe(0)
    expect([output(), existsSync(path('out.ndjson.part'))]).toEqual([finished, false])
    expect((await batch({}, '--restart', '--attest', 'none')).exitCode).toBe(0)
    expect(output()).toHaveLength(finished.replace(/,"attestation":.*/g, '}').length)
  })

  it('buffers no more errors than one checkpoint covers while there are no responses', () => {
    writeFileSync(path('out.ndjson'), 'of before\n')
    const files = { output: path('out.ndjson'), errors: path('e.ndjson'), format: JSON_LINES }
    const identity = { request: 'r', inputBytes: 1, inputHead: 'h' }
    const writer = new FileWriter(
      files,
      identity,
      true,
      () => 0,
      () => undefined,
    )
    const entry = { number: 1, place: 'line 1', id: 1, item: undefined, fault: 'f', ...UNREAD, result: undefined }
    const problem = { type: 'about:blank', title: 'Not sent', status: 400, detail: 'f' }
    for (let count = 1; count < 10_000; count++) writer.rejection(entry, problem)
    expect([writer.hasBegun, output(), readFileSync(path('e.ndjson'), 'utf8')]).toEqual([false, 'of before\n', ''])
    writer.rejection(entry, problem)
    expect([writer.hasBegun, output()]).toEqual([true, ''])
    writer.close(true)
    expect(readFileSync(path('e.ndjson'), 'utf8').trim().split('\n')).toHaveLength(10_000)
  })
})
