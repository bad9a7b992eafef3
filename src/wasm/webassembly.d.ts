/** Declares the part of the WebAssembly JavaScript API that the loader uses. Without this, only the DOM types declare it. */
declare namespace WebAssembly {
  function validate(bytes: Uint8Array): boolean
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Record<string, unknown>
  }
}
