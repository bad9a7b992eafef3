import type { GeometryService } from '../../service/stored/geometries.ts'
import type { SetCaller, SetService } from '../../service/stored/sets.ts'
import { ownerOf } from '../access/request-state.ts'
import { getRoute, metered, type Route, type RouteRequest, type StreamRequest } from './route.ts'
import { hasLines, receiveLines, StreamSink } from './streams.ts'

const PATH = '/compute/v0/geometries'
const SETS = '/compute/v0/sets'

/** Returns the routes of stored geometries. */
export function storedRoutes(geometries: GeometryService): Route[] {
  const one = `${PATH}/:ref`
  return [
    {
      method: 'PUT',
      path: PATH,
      summary: 'stores a geometry under its hash, by which requests can name it',
      counts: true,
      run: (request, body) => geometries.put(body, ownerOf(request), request.exchange),
    },
    metered(
      getRoute(PATH, 'your stored geometries, newest first', (request) =>
        geometries.list(ownerOf(request), request.exchange),
      ),
    ),
    metered(
      getRoute(one, 'a stored geometry', (request) =>
        geometries.get(request.parameter, ownerOf(request), request.exchange),
      ),
    ),
    {
      ...getRoute(one, 'deletes a stored geometry', (request) =>
        geometries.delete(request.parameter, ownerOf(request), request.exchange),
      ),
      method: 'DELETE',
    },
  ]
}

/** Returns the routes of sets. */
export function setRoutes(sets: SetService, maxBatchBytes: number): Route[] {
  const one = `${SETS}/:name`
  return [
    {
      method: 'PUT',
      path: one,
      summary: 'stores a set of features, in place of that with the same name',
      counts: true,
      run: neverRuns,
      stream(request) {
        const { exchange, parameter } = request
        const caller = uploader(request)
        const answer = (response: ReturnType<SetService['put']>) =>
          response.then(
            (result) => request.succeed(result),
            (error) => request.fail(error),
          )
        if (!hasLines(request)) {
          exchange.readBody(request.owner, (body) => answer(sets.put(parameter, body, caller, exchange)), maxBatchBytes)
          return
        }
        const upload = receiveLines(
          request,
          (onRoom) => sets.openUpload(parameter, caller, exchange, onRoom),
          (lines, isCut) => lines.end(isCut),
          (lines) => lines.end(true),
        )
        answer(upload.response)
      },
    },
    metered(getRoute(SETS, 'your sets', (request) => sets.list(setCaller(request), request.exchange))),
    metered(
      getRoute(one, 'size and age of a set', (request) =>
        sets.get(request.parameter, setCaller(request), request.exchange),
      ),
    ),
    {
      ...metered(
        getRoute(`${one}/features`, 'the features of a set as NDJSON', async () => ({ json: '', kind: 'ndjson' })),
      ),
      stream(request) {
        const sink = new StreamSink(request, 'ndjson')
        sink.endAfter(sets.features(request.parameter, setCaller(request), request.exchange, sink))
      },
    },
    {
      ...getRoute(one, 'deletes a set', (request) =>
        sets.delete(request.parameter, setCaller(request), request.exchange),
      ),
      method: 'DELETE',
    },
    {
      method: 'POST',
      path: `${one}/match`,
      summary: 'finds the features of a set that contain points, or are near them',
      counts: true,
      run: neverRuns,
      stream(request) {
        const { exchange, parameter } = request
        const sink = new StreamSink(request, 'ndjson')
        const match = receiveLines(
          request,
          (onRoom) => sets.openMatch(parameter, exchange.query, request, sink, onRoom),
          (lines, isCut) => lines.end(isCut),
        )
        sink.endAfter(match.answered)
      },
    },
  ]
}

function neverRuns(): never {
  throw new RangeError('this route is streamed')
}

function setCaller(request: RouteRequest): SetCaller {
  return { account: ownerOf(request) }
}

/** Returns whose set an upload is. It waits for the quota. */
function uploader(request: StreamRequest): SetCaller {
  return { account: ownerOf(request), admitted: request.admitted }
}
