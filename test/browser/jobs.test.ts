/** The page of jobs: upload, progress, results, cancel, keys. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, shoot, THEMES, type Visit, type VisitOptions, visit } from './page.ts'
import { runDuringTests } from './running.ts'

const ROWS = 300
const PATIENCE_MS = 120_000
const CSV = `name,lat,lon\nbad,95,0\n${Array.from({ length: ROWS }, (_, at) => `P${at},${(at % 140) - 70},${at / 2}`).join('\n')}\n`
const POINT = { type: 'Point', coordinates: [2, 3] }
const operation = (id: number) =>
  JSON.stringify(id % 1000 === 7 ? { op: 'area', geometry: POINT } : { op: 'distance', id, from: POINT, to: POINT })
const linesOf = (count: number) => Array.from({ length: count }, (_, id) => `${operation(id)}\n`).join('')

function choose(page: Page, name: string, text: string): Promise<void> {
  return page.setInputFiles('#job-file', { name, mimeType: '', buffer: Buffer.from(text) })
}

async function saved(page: Page, label: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: label }).click()])
  return readFileSync(await file.path(), 'utf8')
}

/** Opens the page of jobs. Chunks that wait for a busy machine take longer than what other pages show. */
async function open(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
  const opened = await visit(browser, url, '/jobs', options)
  opened.page.setDefaultTimeout(PATIENCE_MS)
  return opened
}

const until = (page: Page, state: string) => page.locator('.job-panel .tag', { hasText: state }).waitFor()

describe.skipIf(WHY_NOT !== undefined)('the page of jobs', { timeout: 3 * PATIENCE_MS }, () => {
  // With a limit of the public tier, requests from this machine are recognised by theirs.
  const settings = { RECORDS: '1', JOB_POLL_MS: '50', RATE_LIMIT_PUBLIC: '100' }
  const running = runDuringTests({
    local: () => startTestService(settings),
    withKeys: () => startTestService({ ...settings, ...NO_LOCAL_CALLERS }),
  })
  beforeAll(async () => {
    for (const { lines } of [running.local, running.withKeys])
      await eventually(() => expect(lines.join('\n')).toContain('"store open"'))
  })

  it('makes a job of the rows of a file, shows its progress, and saves its results', async () => {
    const { page, context, faults } = await open(running.browser, running.local.url)
    await page.getByText('You have no jobs.').waitFor()
    await choose(page, 'places.csv', CSV)
    await page.getByText('301 rows, 1 left out (bad:').waitFor()
    await page.selectOption('#job-operation', 'within')
    await page.getByRole('button', { name: 'Create the job' }).click()
    await page.getByText('B: The text is empty.').waitFor()
    await page.fill('#job-other', '0 N 0 E')
    await page.fill('#job-radius', '5000000')
    await page.selectOption('#job-attest', 'merkle')
    await shoot(page, 'jobs-new-light')
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the job' }).click()
    await until(page, 'Done')
    expect(new URL(page.url()).searchParams.get('job')).toMatch(/^[0-9a-f]{32}$/)
    const results = (await saved(page, 'Download the results'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    // The ids are the numbers of the rows, and the first row has no position.
    expect(results.map(({ id }) => id)).toEqual(Array.from({ length: ROWS }, (_, at) => at + 2))
    expect(new Set(results.map(({ result }) => result))).toEqual(new Set([true, false]))
    const { merkle } = JSON.parse(await saved(page, 'Download the attestation'))
    await page.fill('#proof-number', '7')
    const proof = JSON.parse(await saved(page, 'Download the proof'))
    expect([proof.operation, proof.root]).toEqual([7, merkle.root])
    await shoot(page, 'jobs-done-light')
    expect(await axeFindings(page)).toEqual([])
    // A reload restores the page with its job.
    await page.reload()
    await until(page, 'Done')
    expect(faults).toEqual([])
    await context.close()
  })

  it('sends the lines of a file as they are, shows errors by type, and cancels (dark, narrow)', async () => {
    const { page, context, faults } = await open(running.browser, running.local.url, { width: 390, theme: 'dark' })
    await choose(page, 'operations.ndjson', linesOf(20_000))
    await page.getByText('one operation on each line').waitFor()
    await page.getByRole('button', { name: 'Create the job' }).click()
    await until(page, 'Done')
    await page.getByText('20,000 of 20,000').waitFor()
    expect(await page.textContent('.job-errors')).toBe('invalid-input 20')
    expect((await saved(page, 'Download the results')).trim().split('\n')).toHaveLength(20_000)
    await page.locator('.job-panel').scrollIntoViewIfNeeded()
    await shoot(page, 'jobs-done-dark')
    expect(await axeFindings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)

    // A job that another program uploads stays open, so it can be cancelled here.
    const response = await fetch(`${running.local.url}/compute/v0/jobs?chainId=84532&attest=none&more=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: linesOf(3),
    })
    const { id } = (await response.json()) as { id: string }
    await page.locator(`.jobs-table a[href$="${id}"]`).click()
    await until(page, 'Receiving')
    await page.getByText('3 of 3 so far').waitFor() // by events
    await shoot(page, 'jobs-receiving-dark')
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await until(page, 'Cancelled')
    expect(faults).toEqual([])
    await context.close()
  })

  it('says which line is no operation, and why a file cannot be read', async () => {
    const { page, context } = await open(running.browser, running.local.url)
    await choose(page, 'lines.ndjson', `${operation(0)}\n{"geometry":1}\n`)
    await page.getByRole('button', { name: 'Create the job' }).click()
    await page.getByText('Line 2 is not an operation').waitFor()
    await choose(page, 'notes.csv', 'a,b\n1,2')
    await page.locator('.job-file', { hasText: 'needs a first row with the columns' }).waitFor()
    expect(await page.getByRole('button', { name: 'Create the job' }).count()).toBe(0)
    await context.close()
  })

  it.each(THEMES)('needs a key outside development (%s)', async (theme, width) => {
    const { page, context } = await open(running.browser, running.withKeys.url, { theme, width })
    await page.getByText('so they need an API key').waitFor()
    await shoot(page, `jobs-key-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await page.locator('.jobs-page').getByRole('button', { name: 'Enter an API key' }).click()
    await page.fill('#api-key', running.withKeys.developerKey)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.locator('.jobs-page >> text=/You have no jobs|Done/').first().waitFor()
    await choose(page, 'operations.ndjson', linesOf(9000))
    await page.selectOption('#job-attest', 'each')
    await page.getByRole('button', { name: 'Create the job' }).click()
    await until(page, 'Done')
    const [first] = (await saved(page, 'Download the results')).split('\n')
    expect(JSON.parse(first!).resultSignature.signature).toMatch(/^0x[0-9a-f]{130}$/)
    await context.close()
  })

  it('continues an upload that was interrupted, also after a reload', async () => {
    const { page, context } = await open(running.browser, running.local.url)
    // Only the first of several pieces arrives.
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-jobs-'))
    const file = join(folder, 'large.ndjson')
    writeFileSync(file, linesOf(60_000))
    await context.route(/\/input\?from=/, () => {})
    const upload = async () => {
      await page.setInputFiles('#job-file', file)
      await page.getByRole('button', { name: 'Create the job' }).click()
    }
    await upload()
    await until(page, 'Receiving')
    await page.getByRole('button', { name: 'Pause the upload' }).click()
    const id = new URL(page.url()).searchParams.get('job')
    await context.unrouteAll()
    await page.reload()
    await until(page, 'Receiving')
    await upload()
    await until(page, 'Done')
    await page.getByText('60,000 of 60,000').waitFor()
    expect(new URL(page.url()).searchParams.get('job')).toBe(id)
    rmSync(folder, { recursive: true })
    await context.close()
  })
})
