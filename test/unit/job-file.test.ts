import { describe, expect, it } from 'vitest'
import type { Geometry } from '../../src/types/generated.ts'
import { operationsOfRows, readJobFile, readOperations } from '../../web/explorer/jobs/job-file.ts'

const fileOf = (name: string, text: string) => new File([text], name)

async function operationsIn(text: string): Promise<unknown[]> {
  const operations: unknown[] = []
  for await (const operation of readOperations(fileOf('a.ndjson', text))) operations.push(operation)
  return operations
}

describe('the file of a job', () => {
  it('has operations on its lines, or rows', async () => {
    expect(await readJobFile(fileOf('a.NDJSON', '{}'))).toEqual({ kind: 'lines' })
    expect(await readJobFile(fileOf('a.ndjson', ''))).toMatchObject({ kind: 'none', reason: 'The file is empty.' })
    expect(await readJobFile(fileOf('a.csv', 'lat,lon\n1,2'))).toMatchObject({
      kind: 'rows',
      rows: [{ name: 'Row 1' }],
    })
    expect(await readJobFile(fileOf('a.csv', 'a,b\n1,2'))).toMatchObject({ kind: 'none' })
  })

  it('is read line by line, without blank lines and with the number of a faulty one', async () => {
    const line = '{"op":"area","geometry":{"type":"Point","coordinates":[1,2]}}'
    expect(await operationsIn(`${line}\n\n${line}`)).toEqual([JSON.parse(line), JSON.parse(line)])
    await expect(operationsIn(`${line}\n{`)).rejects.toThrow(/^Line 2 is not JSON: /)
    for (const other of ['[]', 'null', '1', '{"geometry":1}'])
      await expect(operationsIn(`\n${other}`)).rejects.toThrow('Line 2 is not an operation')
  })

  it('gives an operation for each row with a geometry, with the number of the row', async () => {
    const file = await readJobFile(fileOf('a.csv', 'lat,lon\n95,0\n1,2'))
    if (file.kind !== 'rows') throw new Error(file.kind)
    const origin: Geometry = { type: 'Point', coordinates: [0, 0] }
    const draft = { a: origin, b: origin, radiusMeters: 5, chainId: 84532, recipient: '' } as const
    expect([...operationsOfRows(file.rows, { ...draft, operation: 'within' })]).toEqual([
      { op: 'within', id: 2, geometry: { type: 'Point', coordinates: [2, 1] }, target: origin, radius: 5 },
    ])
    expect([...operationsOfRows(file.rows, { ...draft, b: undefined, operation: 'area' })]).toEqual([
      { op: 'area', id: 2, geometry: { type: 'Point', coordinates: [2, 1] } },
    ])
  })
})
