const scale = Number(process.env['TEST_SCALE'] ?? 1)

/**
 * Returns how many of a test's generated cases this run tries. `npm test` sets `TEST_SCALE=0.05` and tries a twentieth of them,
 * `.ci/run` a quarter, and `npm run test:more` all. A scale above 1 tries more.
 *
 * @param all number of cases at scale 1
 */
export function scaled(all: number): number {
  return Math.max(1, Math.round(all * scale))
}

/** Step between altered offsets, for tests that alter a text at every offset: twenty when a twentieth of the cases is tried. */
export const stride = Math.max(1, Math.round(1 / scale))
