/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The arguments that a model sends: an object with unknown content. */
// biome-ignore lint/suspicious/noExplicitAny: the client and the service check the content
export type Arguments = Readonly<Record<string, any>>

export interface ToolResult {
  /** A few lines for people. */
  readonly text: string
  /** The whole response, as in the output schema. */
  readonly structured: object
}

/** A tool that a model can call. All tools are read-only. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** @throws the errors of the client, which `describeError` describes to the model */
  call(given: Arguments, signal: AbortSignal): Promise<ToolResult>
}
