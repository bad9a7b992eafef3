/**
 * The hours of clients in PostgreSQL: how much of its hourly limits each client has used on all nodes. One statement changes the hours
 * of many clients, on a connection of its own. It uses the clock of the database, so the clocks of the nodes do not matter.
 */
import type { ClientHours, CountKind, HourChange } from '../wire/process-messages.ts'
import { openConnection, type PostgresOptions } from './postgres.ts'

/** Name by which the connections of the nodes are counted. */
const APPLICATION = 'trigpoint limits'

/**
 * Grants wanted requests up to the limit, takes back returned ones, and adds what was used without a grant. If the hour of a client has
 * ended, its next hour begins. The rows are sorted, so that two nodes lock them in the same order.
 */
const CHANGE_HOURS = `
  insert into client_hour as hour (kind, subject, ends, cap, used, vertices, cpu_ms, granted)
  select kind, subject, floor(extract(epoch from now()))::bigint + 3600, cap, used + greatest(0, fit), vertices, cpu_ms, fit
  from unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::float8[])
      as change (kind, subject, cap, want, used, vertices, cpu_ms),
    lateral (select case when want < 0 then want else greatest(0, least(want, cap - used)) end as fit) as fitting
  order by kind, subject
  on conflict (kind, subject) do update set
    (ends, cap, used, vertices, cpu_ms, granted) = (
      select case when is_live then hour.ends else excluded.ends end, excluded.cap, greatest(0, before + added + fit),
        case when is_live then hour.vertices else 0 end + excluded.vertices,
        case when is_live then hour.cpu_ms else 0 end + excluded.cpu_ms, fit
      from (select hour.ends > excluded.ends - 3600 as is_live, excluded.used - greatest(0, excluded.granted) as added) as state,
        lateral (select case when is_live then hour.used else 0 end as before) as past,
        lateral (select case when excluded.granted >= 0 then greatest(0, least(excluded.granted, excluded.cap - before - added))
          when is_live then excluded.granted else 0 end as fit) as fitting
    )
  returning kind, subject, granted, used, vertices, cpu_ms,
    (ends - floor(extract(epoch from now())))::int as seconds_left`

/** Opens the connection when it is first used, and again after it was lost. */
export function openClientHours(
  options: Pick<PostgresOptions, 'url' | 'connectTimeoutMs' | 'writeTimeoutMs' | 'onLost'>,
): ClientHours & { close(): Promise<void> } {
  // A crash of the server loses a second of counts at most, so no change waits for the disk.
  const settings = '-c synchronous_commit=off'
  const { session, close } = openConnection(options, { applicationName: APPLICATION, settings })
  return {
    async change(changes) {
      const rows = await session.query(CHANGE_HOURS, toColumns(changes))
      return rows.map((row) => ({
        kind: row['kind'] as CountKind,
        subject: row['subject'] as string,
        granted: row['granted'] as number,
        amounts: [row['used'] as number, row['vertices'] as number, row['cpu_ms'] as number],
        secondsLeft: row['seconds_left'] as number,
      }))
    },
    async countNodes() {
      const [row] = await session.query(
        'select count(*)::int as nodes from pg_stat_activity where application_name = $1 and datname = current_database()',
        [APPLICATION],
      )
      return row!['nodes'] as number
    },
    close,
  }
}

function toColumns(changes: readonly HourChange[]): string[][] {
  const amounts = [0, 1, 2].map((place) => changes.map((change) => String(change.amounts[place] ?? 0)))
  return [
    changes.map(({ kind }) => kind),
    changes.map(({ subject }) => subject),
    changes.map(({ limit }) => String(limit)),
    changes.map(({ want }) => String(want)),
    ...amounts,
  ]
}
