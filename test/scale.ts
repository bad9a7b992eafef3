const scale = Number(process.env['TEST_SCALE'] ?? 1)

/**
 * How many of the generated cases of a test this run tries: `npm test` sets `TEST_SCALE=0.1` and tries a tenth of them, `npm run
 * test:more` tries all. A scale above 1 tries more.
 *
 * @param all number of cases at scale 1
 */
export function scaled(all: number): number {
  return Math.max(1, Math.round(all * scale))
}

/** From one place to the next one where a test alters something at every place of a text: ten where a tenth is tried. */
export const stride = Math.max(1, Math.round(1 / scale))
