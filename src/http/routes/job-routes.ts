import { ProblemError } from '../../base/problem.ts'
import type { JobCaller, JobService, OpenUpload } from '../../service/jobs/job-services.ts'
import type { ServiceResponse } from '../../service/request.ts'
import { rejectMisplacedQuery } from '../../validation/misplaced-members.ts'
import { ownerOf } from '../access/request-state.ts'
import { NO_BUFFERING_HEADER } from './record-routes.ts'
import { getRoute, metered, type Route, type RouteRequest, type RouteResult, type StreamRequest } from './route.ts'
import { hasLines, receiveLines, StreamSink } from './streams.ts'

const PATH = '/compute/v0/jobs'
const ONLY_LINES = 'operations are added as lines: send them with the content type application/x-ndjson'

/** Returns the routes of jobs: batches that the store keeps. Their operations have a quota of their own; bytes and reads are charged. */
export function jobRoutes(jobs: JobService, maxBatchBytes: number): Route[] {
  const read = (
    path: string,
    summary: string,
    run: (request: RouteRequest, id: string) => Promise<RouteResult>,
  ): Route => metered(getRoute(`${PATH}${path}`, summary, (request) => run(request, request.parameter)))
  return [
    {
      method: 'POST',
      path: PATH,
      summary: 'creates a job: a batch of up to millions of operations that runs in the background',
      counts: true,
      run: neverRuns,
      stream(request) {
        const { exchange } = request
        const caller = uploader(request)
        if (hasLines(request)) {
          upload(request, (onRoom) => jobs.openUpload(exchange.query, caller, exchange, onRoom))
          return
        }
        rejectMisplacedQuery(exchange.query)
        exchange.readBody(request.owner, (body) => accept(request, jobs.create(body, caller, exchange)), maxBatchBytes)
      },
    },
    metered(getRoute(PATH, 'your jobs, newest first', (request) => jobs.list(jobCaller(request), request.exchange))),
    read('/:id', 'state and progress of a job', (request, id) => jobs.state(id, jobCaller(request), request.exchange)),
    {
      ...read('/:id', 'cancels a job', (request, id) => jobs.cancel(id, jobCaller(request), request.exchange)),
      method: 'DELETE',
      // A client that has used up its budget can still cancel its jobs.
      isMetered: false,
    },
    {
      method: 'PUT',
      path: `${PATH}/:id/input`,
      summary: 'continues the upload of a job at the operation ?from=',
      counts: true,
      run: neverRuns,
      stream(request) {
        const { exchange, parameter } = request
        if (exchange.head.contentType !== undefined && !hasLines(request))
          throw new ProblemError({ type: 'unsupported-media-type', detail: ONLY_LINES })
        upload(request, (onRoom) => jobs.continueUpload(parameter, exchange.query, uploader(request), exchange, onRoom))
      },
    },
    {
      ...read('/:id/results', 'results of a job as NDJSON, in order', async () => ({ json: '', kind: 'ndjson' })),
      stream(request) {
        const { exchange, parameter } = request
        const sink = new StreamSink(request, 'ndjson')
        sink.endAfter(jobs.results(parameter, exchange.query, jobCaller(request), exchange, sink))
      },
    },
    {
      ...read('/:id/events', 'progress of a job as server-sent events', async () => ({ json: '', kind: 'events' })),
      stream(request) {
        const sink = new StreamSink(request, 'events', NO_BUFFERING_HEADER)
        sink.endAfter(jobs.watch(request.parameter, jobCaller(request), request.exchange, sink))
      },
    },
    read('/:id/attestation', 'attestation of the Merkle root of a job, signed now, and its submission', (request, id) =>
      jobs.attestation(id, jobCaller(request), request.exchange),
    ),
    read('/:id/results/:operation/proof', 'Merkle proof of one result of a job', (request, ids) => {
      const [id = '', operation = ''] = ids.split('/')
      return jobs.proof(id, operation, jobCaller(request), request.exchange)
    }),
  ]
}

function neverRuns(): never {
  throw new RangeError('this route is streamed')
}

function jobCaller(request: RouteRequest): JobCaller {
  const { walletAddress, idempotencyKey, tier } = request.caller
  return { account: ownerOf(request), walletAddress, idempotencyKey, tier, errorTypeBase: request.errorTypeBase }
}

/** Returns whose job an upload is. It waits for the quota. */
function uploader(request: StreamRequest): JobCaller {
  return { ...jobCaller(request), admitted: request.admitted }
}

function upload(request: StreamRequest, open: (onRoom: (bytes: number) => void) => OpenUpload): void {
  const receiver = receiveLines(
    request,
    open,
    (lines, isCut) => lines.end(isCut),
    (lines) => lines.end(true),
  )
  accept(request, receiver.response)
}

/** Answers with the state of a job that was created or continued. */
function accept(request: StreamRequest, response: Promise<ServiceResponse>): void {
  response.then(
    (result) => request.succeed({ ...result, status: 202 }),
    (error) => request.fail(error),
  )
}
