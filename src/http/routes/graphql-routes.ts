import type { GraphqlResponse, GraphqlService } from '../../service/records/record-services.ts'
import type { Route, RouteResult } from './routes.ts'

/** Media type of responses in GraphQL over HTTP; sent only to clients that name it. */
const GRAPHQL_TYPE = 'application/graphql-response+json'

/** Returns the routes of GraphQL over HTTP, with GET and POST. */
export function graphqlRoutes(graphql: GraphqlService): Route[] {
  const path = '/graphql'
  const summary = 'location records through GraphQL'
  return [
    {
      method: 'GET',
      path,
      summary,
      counts: false,
      run: async ({ exchange }) => withContentType(await graphql.query(exchange.query, exchange), exchange.head.accept),
    },
    {
      method: 'POST',
      path,
      summary,
      counts: false,
      run: async ({ exchange }, body) => withContentType(await graphql.post(body, exchange), exchange.head.accept),
    },
    {
      method: 'GET',
      path: '/graphql/schema',
      summary: 'the schema of /graphql in schema definition language',
      counts: false,
      run: () => ({ json: graphql.schemaText, kind: 'text' }),
    },
  ]
}

function withContentType(response: GraphqlResponse, accept: string | undefined): RouteResult {
  const kind = accept?.toLowerCase().includes(GRAPHQL_TYPE) === true ? 'graphql' : 'json'
  return { ...response, kind, headers: { Vary: 'Accept' } }
}
