import { type Node, parseSync, visitorKeys } from 'oxc-parser'

/** What the house rules need to know of one source file. */
export interface SourceFile {
  /** From the project's folder, with slashes. */
  readonly path: string
  readonly lineCount: number
  readonly imports: readonly Import[]
  /** Global names in use, with one member where there is one: `setTimeout`, `process.env`, `new Date`. */
  readonly globals: readonly Use[]
  /** Lines on which the type `any` is written. */
  readonly anyLines: readonly number[]
}

export interface Import {
  readonly from: string
  /** Exported names that are imported; `*` for all of them. */
  readonly names: readonly string[]
  readonly typeOnly: boolean
  readonly line: number
}

export interface Use {
  readonly name: string
  readonly line: number
}

/**
 * Reads the facts out of TypeScript text. Names are taken as global without looking for a local declaration of the
 * same name: a local that is called `setTimeout` deserves the question.
 */
export function readSource(path: string, text: string): SourceFile {
  const { program, module, errors } = parseSync(path, text)
  const error = errors[0]
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`)

  const lines = lineNumbers(text)
  const lineOf = (offset: number) => lines[offset] ?? 1
  const imports: Import[] = [...module.staticImports, ...module.staticExports].flatMap((statement) => {
    const from = requestOf(statement)
    if (from === undefined) return []
    const names = statement.entries.map((entry) => entry.importName.name ?? '*')
    const typeOnly = statement.entries.length > 0 && statement.entries.every((entry) => entry.isType)
    return [{ from, names, typeOnly, line: lineOf(statement.start) }]
  })

  const globals: Use[] = []
  const anyLines: number[] = []
  walk(program, (node, place) => {
    const line = lineOf(node.start)
    if (node.type === 'TSAnyKeyword') anyLines.push(line)
    if (node.type === 'ImportExpression' && node.source.type === 'Literal') {
      imports.push({ from: String(node.source.value), names: ['*'], typeOnly: false, line })
    }
    if (node.type === 'TSImportType') {
      imports.push({ from: node.source.value, names: ['*'], typeOnly: true, line })
    }
    if (node.type === 'Identifier' && place !== undefined) {
      globals.push(...namesAt(node.name, place).map((name) => ({ name, line })))
    }
  })
  // through a namespace or default import: `grpc.status`
  imports.push(...membersOfNamespaces(module.staticImports, globals))

  return {
    path,
    lineCount: text.trimEnd().split('\n').length,
    imports,
    globals,
    anyLines,
  }
}

/** The line of every offset, so that asking for one of many costs nothing. */
function lineNumbers(text: string): Uint32Array {
  const lines = new Uint32Array(text.length + 1)
  let line = 1
  for (let offset = 0; offset <= text.length; offset++) {
    lines[offset] = line
    if (text[offset] === '\n') line++
  }
  return lines
}

type Module = ReturnType<typeof parseSync>['module']

function requestOf(statement: Module['staticImports'][number] | Module['staticExports'][number]) {
  return 'moduleRequest' in statement
    ? statement.moduleRequest.value
    : statement.entries[0]?.moduleRequest?.value
}

/** The global names that an identifier stands for where it is: itself and, as an object, the two together. */
function namesAt(name: string, { parent, slot }: Place): string[] {
  // the name of a member, not a reference: `clock.setTimeout`, `{ setTimeout: … }`, `interface { setTimeout(): void }`
  if ((slot === 'property' || slot === 'key') && !('computed' in parent && parent.computed)) return []
  if (parent.type === 'ImportSpecifier' || parent.type === 'ExportSpecifier') return []
  if (parent.type === 'MemberExpression' && slot === 'object') {
    const { property, computed } = parent
    if (property.type === 'Identifier' && !computed) return [name, `${name}.${property.name}`]
    if (property.type === 'Literal') return [name, `${name}.${String(property.value)}`]
  }
  if (parent.type === 'NewExpression' && parent.arguments.length === 0) return [name, `new ${name}`]
  if (parent.type === 'VariableDeclarator' && slot === 'init') {
    return [name, ...destructured(parent.id).map((member) => `${name}.${member}`)]
  }
  return [name]
}

function destructured(pattern: Node): string[] {
  if (pattern.type !== 'ObjectPattern') return []
  return pattern.properties.flatMap((property) =>
    property.type === 'Property' && property.key.type === 'Identifier' ? [property.key.name] : [],
  )
}

function membersOfNamespaces(statements: Module['staticImports'], uses: readonly Use[]): Import[] {
  return statements.flatMap((statement) =>
    statement.entries
      .filter((entry) => entry.importName.name === null || entry.importName.name === undefined)
      .flatMap((entry) =>
        uses
          .filter((use) => use.name.startsWith(`${entry.localName.value}.`))
          .map((use) => ({
            from: statement.moduleRequest.value,
            names: [use.name.slice(entry.localName.value.length + 1)],
            typeOnly: entry.isType,
            line: use.line,
          })),
      ),
  )
}

/** Where a node stands: in which field of which other node. */
interface Place {
  readonly parent: Node
  readonly slot: string
}

function walk(node: Node, visit: (node: Node, place: Place | undefined) => void, place?: Place): void {
  visit(node, place)
  for (const slot of visitorKeys[node.type] ?? []) {
    const child: unknown = Reflect.get(node, slot)
    for (const item of Array.isArray(child) ? child : [child]) {
      if (isNode(item)) walk(item, visit, { parent: node, slot })
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
