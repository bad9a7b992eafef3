/**
 * Leases of chains: the right of one process on a database to read a chain. A lease ends when its process is silent for too long or,
 * with PostgreSQL, as soon as the server notices that the process has ended: each process holds a lock on a connection of its own,
 * which the server frees with the connection. Each grant has a new generation. Each write of a reader contains its generation, so a
 * process that has lost a lease without noticing cannot write.
 */
import type { SyncOperations } from '../wire/sync-messages.ts'
import type { Database, Session } from './database.ts'

type Request = SyncOperations['lease']['argument']
type Result = SyncOperations['lease']['result']

/** First number of the advisory locks of processes: arbitrary, and unlikely to be used by other programs on the same server. */
const PROCESS_LOCK = 5_831_911

/** A process that can hold leases. */
interface Reader {
  readonly owner: string
  readonly chainIds: readonly number[]
  readonly isAlive: boolean
}

interface StoredLease {
  readonly chainId: number
  readonly owner: string | null
  readonly generation: number
}

interface LeaseState {
  readonly isDesired: boolean
  readonly readers: readonly Reader[]
  readonly leases: readonly StoredLease[]
}

/** Creates the operation that renews, takes and releases leases. */
export function createChainLeases(database: Database): { readonly lease: (request: Request) => Promise<Result> } {
  const hasServer = database.engine === 'postgres'
  return { lease: (request) => database.leaseTransaction((session) => renewLeases(session, hasServer, request)) }
}

/**
 * Returns true if a generation is the newest of a chain's lease. If so, no other process gets the lease before the transaction ends.
 *
 * @param generation undefined for writes that need no lease
 */
export async function holdGeneration(
  session: Session,
  chainId: number,
  generation: number | undefined,
): Promise<boolean> {
  if (generation === undefined) return true
  const rows = await session.query(
    'select 1 as held from chain_lease where chain_id = $1 and generation = $2 for share',
    [chainId, generation],
  )
  return rows.length === 1
}

async function renewLeases(session: Session, hasServer: boolean, request: Request): Promise<Result> {
  const { owner, holdMs, chainIds, jobs } = request
  if (holdMs === 0) {
    await releaseLeases(session, owner, [])
    await session.query('delete from sync_process where owner = $1', [owner])
  } else {
    await renewProcess(session, hasServer, request)
  }
  const { isDesired, readers, leases } = await readState(session, hasServer)
  const others = readers.filter((reader) => reader.owner !== owner)
  const ended = others.filter(({ isAlive }) => !isAlive).map((reader) => reader.owner)
  if (ended.length > 0) await session.query('delete from sync_process where owner = any($1::text[])', [ended])
  const alive = others.filter(({ isAlive }) => isAlive)
  const wanted = holdMs === 0 ? [] : isDesired ? chainIds : jobs
  const kept = leases.filter((lease) => lease.owner === owner && wanted.includes(lease.chainId))
  const unwanted = leases.some((lease) => lease.owner === owner && !wanted.includes(lease.chainId))
  if (unwanted) await releaseLeases(session, owner, wanted)
  const plan = planLeases({ kept, wanted, leases, others: alive })
  const taken = plan.take.length === 0 ? [] : await takeLeases(session, owner, plan.take)
  return {
    held: [...kept, ...taken].map(({ chainId, generation }) => ({ chainId, generation })),
    surplus: plan.surplus,
    isDesired,
    isShared: hasServer,
  }
}

/** Stores that this process is alive, and takes its lock if this connection is new. */
async function renewProcess(session: Session, hasServer: boolean, { owner, chainIds, holdMs }: Request): Promise<void> {
  if (hasServer) {
    await session.query(
      `select pg_try_advisory_lock(${PROCESS_LOCK}, hashtext($1)) where not exists (
         select from pg_locks where pid = pg_backend_pid() and ${isProcessLock('hashtext($1)')})`,
      [owner],
    )
  }
  // Most calls write nothing: the time is extended only after a third of it has passed.
  await session.query(
    `insert into sync_process as known (owner, chains, held_until)
     values ($1, $2::bigint[], clock_timestamp() + make_interval(secs => $3::double precision / 1000))
     on conflict (owner) do update set chains = excluded.chains, held_until = excluded.held_until
     where known.chains <> excluded.chains
       or known.held_until < clock_timestamp() + make_interval(secs => $3::double precision / 1500)`,
    [owner, chainIds.map(String), holdMs],
  )
  await session.query(
    `insert into chain_lease (chain_id, generation) select chain_id, 0 from unnest($1::bigint[]) as chain_id
     where not exists (select from chain_lease as known where known.chain_id = chain_id.chain_id) on conflict do nothing`,
    [chainIds.map(String)],
  )
}

function isProcessLock(number: string): string {
  return `locktype = 'advisory' and classid = ${PROCESS_LOCK} and objid = (${number})::oid and objsubid = 2
    and database = (select oid from pg_database where datname = current_database())`
}

async function readState(session: Session, hasServer: boolean): Promise<LeaseState> {
  const isAlive = hasServer
    ? `held_until >= clock_timestamp() and exists (select from pg_locks where ${isProcessLock('hashtext(owner)')})`
    : 'held_until >= clock_timestamp()'
  const [worker] = await session.query('select desired from sync_worker')
  const readers = await session.query(
    `select owner, array_to_string(chains, ',') as chains, (${isAlive}) as alive from sync_process`,
  )
  const leases = await session.query(
    'select chain_id::text, owner, generation::text from chain_lease order by chain_id',
  )
  return {
    isDesired: worker!['desired'] as boolean,
    readers: readers.map((row) => ({
      owner: row['owner'] as string,
      chainIds: (row['chains'] as string).split(',').map(Number),
      isAlive: row['alive'] as boolean,
    })),
    leases: leases.map((row) => ({
      chainId: Number(row['chain_id']),
      owner: row['owner'] as string | null,
      generation: Number(row['generation']),
    })),
  }
}

interface PlanParts {
  /** Leases that this process holds and wants. */
  readonly kept: readonly StoredLease[]
  readonly wanted: readonly number[]
  readonly leases: readonly StoredLease[]
  /** The other processes that are alive. */
  readonly others: readonly Reader[]
}

/**
 * Chooses what this process takes and what it should give up, so that chains spread over the processes. A free chain is left to a
 * process that holds fewer chains. A process gives up one chain at a time, as long as another that can read it holds at least two fewer.
 */
function planLeases({ kept, wanted, leases, others }: PlanParts): { take: StoredLease[]; surplus: number[] } {
  const heldBy = (owner: string) => leases.filter((lease) => lease.owner === owner).length
  const fewest = (chainId: number) =>
    Math.min(...others.filter(({ chainIds }) => chainIds.includes(chainId)).map(({ owner }) => heldBy(owner)))
  const free = leases.filter((lease) => !kept.includes(lease) && !others.some(({ owner }) => owner === lease.owner))
  const take: StoredLease[] = []
  for (const lease of free) {
    if (wanted.includes(lease.chainId) && fewest(lease.chainId) >= kept.length + take.length) take.push(lease)
  }
  // While a process can still take a free chain, none is given up.
  const isSettled = !free.some(({ chainId }) => wanted.includes(chainId) || fewest(chainId) < Number.POSITIVE_INFINITY)
  const surplus = isSettled ? kept.find(({ chainId }) => fewest(chainId) <= kept.length - 2) : undefined
  return { take, surplus: surplus === undefined ? [] : [surplus.chainId] }
}

/** Takes leases, except for those that another process has just taken, or with which it is writing at the moment. */
async function takeLeases(
  session: Session,
  owner: string,
  leases: readonly StoredLease[],
): Promise<readonly StoredLease[]> {
  const rows = await session.query(
    `update chain_lease set owner = $1, generation = chain_lease.generation + 1, started_at = clock_timestamp()
     from (select chain_id from chain_lease join unnest($2::bigint[], $3::bigint[]) as free (chain_id, generation)
       using (chain_id, generation) for update of chain_lease skip locked) as free
     where chain_lease.chain_id = free.chain_id returning chain_lease.chain_id::text, generation::text`,
    [owner, leases.map(({ chainId }) => String(chainId)), leases.map(({ generation }) => String(generation))],
  )
  return rows.map((row) => ({ chainId: Number(row['chain_id']), owner, generation: Number(row['generation']) }))
}

/** Releases the leases of a process, except for some chains. The generation stays, so a write in progress is still stored. */
async function releaseLeases(session: Session, owner: string, except: readonly number[]): Promise<void> {
  await session.query(
    'update chain_lease set owner = null, started_at = null where owner = $1 and not chain_id = any($2::bigint[])',
    [owner, except.map(String)],
  )
}
