/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a model sends: an object, of which nothing else is known. */
// biome-ignore lint/suspicious/noExplicitAny: the client and the service behind it judge what it holds
export type Arguments = Readonly<Record<string, any>>

export interface ToolAnswer {
  /** A few lines for people. */
  readonly text: string
  /** All of it, as the output schema says. */
  readonly structured: object
}

/** One thing that a model can ask for. None of them changes anything anywhere. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /** @throws whatever the client throws: `errorText` makes the tool's error of it */
  call(given: Arguments, signal: AbortSignal): Promise<ToolAnswer>
}
