import fc from 'fast-check'

const asked = process.env['LAW_SEED']

/**
 * What fails must fail again, on any machine: every run tries the same cases. `LAW_SEED=random` looks elsewhere, as does a
 * number; `TEST_SCALE` (scale.ts) says how long.
 */
export const SEED = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked ?? 20_261_121)

fc.configureGlobal({ seed: SEED })

export default fc
