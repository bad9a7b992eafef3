// The imports between the source files of Trigpoint, read with the parser of Vite. The architecture test and `house.mjs` use it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'workers', 'web/explorer']
/** Built from the AssemblyScript sources, and not in Git. */
const BUILT = 'src/wasm/generated/'

/**
 * @typedef {object} Import
 * @property {string | undefined} target path of a file from the root, or name of a package, for example `node:fs` or
 *   `viem/accounts`; undefined if the path is computed when the program runs
 * @property {boolean} isFile false for a package
 * @property {'import' | 'dynamic' | 'url'} kind `dynamic` is `import()` or `require()`; `url` is `new URL('…', import.meta.url)`
 *   that names a source file
 * @property {boolean} isType true if nothing of the import exists at run time
 * @property {number} line
 *
 * @typedef {object} Source
 * @property {string} text
 * @property {any} program syntax tree (ESTree with TypeScript nodes)
 * @property {Import[]} imports
 *
 * @typedef {Map<string, Source>} Graph a source by its path from the root
 */

/**
 * Reads all TypeScript and AssemblyScript sources.
 *
 * @param {string} root folder that has `src`, `workers` and `web`
 * @returns {Graph}
 * @throws {Error} if a file cannot be parsed
 */
export function readSourceGraph(root = ROOT) {
  const files = FOLDERS.flatMap((folder) => listFiles(root, folder)).sort()
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const program = parse(file, text)
      return [file, { text, program, imports: readImports(root, { file, files, text, program }) }]
    }),
  )
}

/**
 * Finds the circles of imports: groups of files in which each file reaches each other. Imports of types count. URLs do not: they
 * start threads, and a thread does not share modules with the thread that starts it.
 *
 * @param {Graph} graph
 * @returns {string[][]} paths, sorted
 */
export function cycles(graph) {
  // Tarjan's algorithm. A group is complete when its first file reaches no file that was visited before.
  const indices = new Map()
  const lows = new Map()
  const open = []
  const groups = []
  const visit = (file) => {
    indices.set(file, indices.size)
    lows.set(file, indices.get(file))
    open.push(file)
    for (const { target, kind } of graph.get(file).imports) {
      if (kind === 'url' || !graph.has(target)) continue
      if (!indices.has(target)) visit(target)
      if (open.includes(target)) lows.set(file, Math.min(lows.get(file), lows.get(target)))
    }
    if (lows.get(file) !== indices.get(file)) return
    const group = open.splice(open.indexOf(file))
    if (group.length > 1) groups.push(group.sort())
  }
  for (const file of graph.keys()) if (!indices.has(file)) visit(file)
  return groups.sort()
}

/**
 * Calls `visit` with every node of a syntax tree, parents first.
 *
 * @param {any} node
 * @param {(node: any) => void} visit
 */
export function walk(node, visit) {
  if (typeof node !== 'object' || node === null) return
  if (typeof node.type === 'string') visit(node)
  for (const child of Object.values(node)) walk(child, visit)
}

/** Returns the number of the line at an offset in a text, from 1. */
export function lineAt(text, offset) {
  return text.slice(0, offset).split('\n').length
}

function listFiles(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith(BUILT))
}

function parse(file, text) {
  // AssemblyScript has decorators where TypeScript has none (`@inline` before a function). Spaces keep the offsets.
  const plain = file.includes('/assembly/')
    ? text.replace(/^[ \t]*@\w+(?:\([^)]*\))?/gm, (decorator) => ' '.repeat(decorator.length))
    : text
  const { program, errors } = parseSync(file, plain, { lang: file.endsWith('.d.ts') ? 'dts' : 'ts' })
  if (errors.length > 0) throw new Error(`cannot parse ${file}: ${errors[0].message}`)
  return program
}

function readImports(root, { file, files, text, program }) {
  const imports = []
  const unions = new Map()
  const add = (kind, node, specifier, isType = false) => {
    const isFile = specifier?.startsWith('.') ?? false
    const target = isFile ? sourcePath(root, join(dirname(file), specifier)) : specifier
    imports.push({ target, isFile, kind, isType, line: lineAt(text, node.start) })
  }
  walk(program, (node) => {
    const { type, source, callee } = node
    if (type === 'ImportDeclaration' || type === 'ExportNamedDeclaration' || type === 'ExportAllDeclaration') {
      if (source) add('import', node, source.value, isTypeImport(node))
    } else if (type === 'TSImportType') add('import', node, source.value, true)
    else if (type === 'ImportExpression') add('dynamic', node, stringValue(source))
    else if (type === 'CallExpression' && isRequire(callee)) add('dynamic', node, stringValue(node.arguments[0]))
    else if (type === 'Identifier' && node.typeAnnotation) unions.set(node.name, literalTypes(node.typeAnnotation))
    else if (type === 'NewExpression' && callee.name === 'URL' && isModuleUrl(node.arguments[1])) {
      const pattern = pathPattern(node.arguments[0], unions)
      const base = dirname(resolve('/', file))
      // Each way to read the pattern is a path from the file or, because the build keeps the folders, from `dist`.
      const paths = new Set(
        pattern.map((path) =>
          join(base, path)
            .slice(1)
            .replace(/^dist\//, ''),
        ),
      )
      for (const path of paths) {
        if (!/\.[jt]s$/.test(path)) continue
        const expression = new RegExp(
          `^${path
            .replace(/[jt]s$/, 'ts')
            .replace(/[.+]/g, '\\$&')
            .replace('*', '[^/]*')}$`,
        )
        for (const other of files) if (expression.test(other)) add('url', node, `./${relative(dirname(file), other)}`)
      }
    }
  })
  return imports
}

/** Resolves a path as TypeScript and Vite do; AssemblyScript imports have no suffix. */
function sourcePath(root, path) {
  return [path, `${path}.ts`, path.replace(/\.js$/, '.ts')].find((name) => existsSync(join(root, name))) ?? path
}

function isTypeImport({ importKind, exportKind, specifiers = [] }) {
  if (importKind === 'type' || exportKind === 'type') return true
  return specifiers.length > 0 && specifiers.every((one) => one.importKind === 'type' || one.exportKind === 'type')
}

function isRequire(callee) {
  return callee.name === 'require' || callee.callee?.name === 'createRequire'
}

function isModuleUrl(node) {
  return node?.type === 'MemberExpression' && node.object.type === 'MetaProperty' && node.property.name === 'url'
}

function stringValue(node) {
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
}

/** Returns the strings of a type such as `'compute' | 'signer'`, or undefined. */
function literalTypes({ typeAnnotation }) {
  const types = typeAnnotation.types ?? [typeAnnotation]
  const values = types.map(({ literal }) => stringValue(literal))
  return values.includes(undefined) ? undefined : values
}

/** Lists the values that a path can have. `*` stands for a part that only the running program knows. */
function pathPattern(node, unions) {
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].flatMap((one) => pathPattern(one, unions))
  if (node.type === 'Identifier') return unions.get(node.name) ?? ['*']
  if (node.type !== 'TemplateLiteral') return [stringValue(node) ?? '*']
  const [first, ...rest] = node.quasis.map(({ value }) => value.cooked)
  return node.expressions.reduce(
    (paths, expression, i) =>
      paths.flatMap((path) => pathPattern(expression, unions).map((value) => path + value + rest[i])),
    [first],
  )
}
