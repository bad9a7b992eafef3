import type { Services } from '../../service/services.ts'
import { StreamSink } from '../transport/stream-sink.ts'
import type { Route, StreamRequest } from './route.ts'

/** Media types of newline-delimited JSON. */
const LINES = /^application\/(x-ndjson|ndjson|jsonl|jsonlines|x-jsonlines)\s*(;|$)/i

/** Returns the route `POST /compute/v0/batch`. It takes and returns one JSON document, or NDJSON if the content type says so. */
export function batchRoute(services: Services, maxBatchBytes: number): Route {
  return {
    method: 'POST',
    path: '/compute/v0/batch',
    summary: 'runs many operations in one request, as JSON or as NDJSON (application/x-ndjson)',
    counts: true,
    run: () => {
      throw new RangeError('a batch is streamed')
    },
    stream(request) {
      if (LINES.test(request.exchange.head.contentType ?? '')) streamLines(services, request)
      else answerJson(services, request, maxBatchBytes)
    },
  }
}

function answerJson(services: Services, request: StreamRequest, maxBatchBytes: number): void {
  const sink = new StreamSink(request, 'json')
  request.exchange.readBody(
    request.owner,
    (body) => {
      services.batch(body, request, sink).then(
        () => sink.end(),
        (error) => request.fail(error),
      )
    },
    maxBatchBytes,
  )
}

function streamLines(services: Services, request: StreamRequest): void {
  const sink = new StreamSink(request, 'ndjson')
  // Opened before the body is read, so that invalid options are rejected without reading it.
  const lines = services.openBatch(request.exchange.query, request, sink, (bytes) => {
    flow.release(bytes)
    if (!lines.isFull) flow.resume()
  })
  const flow = request.exchange.streamBody(request.owner, {
    take(bytes) {
      lines.take(bytes)
      if (lines.isFull) flow.pause()
    },
    end: () => finish(false),
    cut: () => finish(true),
  })
  function finish(isCut: boolean): void {
    lines.end(isCut).then(
      () => sink.end(),
      (error) => request.fail(error),
    )
  }
}
