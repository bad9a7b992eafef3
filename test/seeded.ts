import fc from 'fast-check'

const asked = process.env['LAW_SEED']

// What fails must fail again, on any machine: every run tries the same cases. `LAW_SEED=random` looks elsewhere, as does a
// number, and `LAW_RUNS` looks longer.
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked ?? 20_261_121) })

export default fc
