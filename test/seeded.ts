import fc from 'fast-check'

const asked = process.env['LAW_SEED']

/**
 * Every run tries the same cases, so that a failure repeats on any machine. `LAW_SEED` chooses others, by a number or `random`;
 * `TEST_SCALE` (scale.ts) sets their number.
 */
export const SEED = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked ?? 20_261_121)

fc.configureGlobal({ seed: SEED })

export default fc
