import type { GraphqlAnswer, GraphqlService } from '../service/record-services.ts'
import type { Route, RouteAnswer } from './routes.ts'

/** Media type of answers in GraphQL over HTTP; only who names it gets it. */
const GRAPHQL_TYPE = 'application/graphql-response+json'

/** Records by GraphQL over HTTP, by GET and POST. */
export function graphqlRoutes(graphql: GraphqlService): Route[] {
  const path = '/graphql'
  const summary = 'location records by GraphQL'
  return [
    {
      method: 'GET',
      path,
      summary,
      counts: false,
      run: async ({ exchange }) => typed(await graphql.query(exchange.query, exchange), exchange.head.accept),
    },
    {
      method: 'POST',
      path,
      summary,
      counts: false,
      run: async ({ exchange }, body) => typed(await graphql.post(body, exchange), exchange.head.accept),
    },
    {
      method: 'GET',
      path: '/graphql/schema',
      summary: 'the schema of /graphql in its own language',
      counts: false,
      run: () => ({ json: graphql.schemaText, kind: 'text' }),
    },
  ]
}

function typed(answer: GraphqlAnswer, accept: string | undefined): RouteAnswer {
  const kind = accept?.toLowerCase().includes(GRAPHQL_TYPE) === true ? 'graphql' : 'json'
  return { ...answer, kind, headers: { Vary: 'Accept' } }
}
