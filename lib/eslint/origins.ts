// Where a name in a user's file comes from: `sleep`, `fs.stat`, `file.read` traced to an import of
// nephrite (import, require or await import) through ESLint's scopes. Owner: none, pure functions.
// Invariants: what cannot be traced by syntax alone is undefined, never a guess: parameters,
// properties and reassigned variables have no origin.
// Not here: which of the names return an Operation (operation_names.ts).
import type { Rule, Scope, SourceCode } from 'eslint';
import { OPERATION_FUNCTIONS, OPERATION_METHODS } from './operation_names.ts';

export type Node = Rule.Node | Parameters<SourceCode['getScope']>[0];

/** An export of an entry of nephrite; `name` is undefined for the whole module. */
interface Origin {
  readonly entry: string;
  readonly name: string | undefined;
}

/** Whether `specifier` is nephrite or one of its entries. */
export function isNephrite(specifier: unknown): specifier is string {
  return typeof specifier === 'string' && /^nephrite(\/|$)/.test(specifier);
}

/** What a call returns an Operation of, as the user reads it (`fs.stat`, `file.read`). */
export function operationCalled(code: SourceCode, callee: Node): string | undefined {
  const origin = originOf(code, callee);
  if (origin?.name !== undefined && OPERATION_FUNCTIONS.get(origin.entry)?.has(origin.name)) {
    return nameOf(code, callee);
  }
  const member = memberOf(callee);
  const initial = member === undefined ? undefined : initialValue(code, member.object);
  if (member === undefined || initial?.type !== 'CallExpression') return undefined;
  const maker = originOf(code, initial.callee);
  if (maker?.name === undefined) return undefined;
  const methods = OPERATION_METHODS.get(maker.entry)?.get(maker.name);
  return methods?.has(member.property) ? nameOf(code, callee) : undefined;
}

function nameOf(code: SourceCode, callee: Node): string {
  return code.getText(callee).replaceAll('?.', '.');
}

/** The import behind an identifier (`sleep`) or a member of a module (`fs.stat`). */
function originOf(code: SourceCode, node: Node): Origin | undefined {
  if (node.type === 'Identifier') return originOfVariable(findVariable(code, node));
  const member = memberOf(node);
  if (member === undefined) return undefined;
  const module = originOf(code, member.object);
  if (module === undefined || module.name !== undefined) return undefined;
  return { entry: module.entry, name: member.property };
}

function originOfVariable(variable: Scope.Variable | undefined): Origin | undefined {
  const definition = variable?.defs.length === 1 ? variable.defs[0] : undefined;
  if (definition?.type === 'ImportBinding') {
    const specifier = definition.node;
    const entry = definition.parent.source.value;
    if (!isNephrite(entry)) return undefined;
    if (specifier.type !== 'ImportSpecifier') return { entry, name: undefined };
    const { imported } = specifier;
    const name = imported.type === 'Identifier' ? imported.name : String(imported.value);
    return { entry, name: name === 'default' ? undefined : name };
  }
  if (definition?.type !== 'Variable') return undefined;
  const { id, init } = definition.node;
  const entry = importedEntry(init);
  if (entry === undefined) return undefined;
  if (id.type === 'Identifier') return { entry, name: undefined };
  if (id.type !== 'ObjectPattern') return undefined;
  for (const property of id.properties) {
    if (property.type !== 'Property' || property.value !== definition.name) continue;
    return property.key.type === 'Identifier' ? { entry, name: property.key.name } : undefined;
  }
  return undefined;
}

/** The entry of `require('nephrite/fs')` and `await import('nephrite/fs')`. */
function importedEntry(value: Node | null | undefined): string | undefined {
  const node = value === null || value === undefined ? undefined : withoutWait(value);
  let source: Node | undefined;
  if (node?.type === 'ImportExpression') source = node.source;
  if (node?.type === 'CallExpression' && isRequire(node.callee)) source = node.arguments[0];
  return source?.type === 'Literal' && isNephrite(source.value) ? source.value : undefined;
}

/** Whether the node is the name `require`. */
export function isRequire(node: Node): boolean {
  return node.type === 'Identifier' && node.name === 'require';
}

/** What a variable was made with, if it is assigned once; `await` and `yield*` taken off. */
function initialValue(code: SourceCode, node: Node): Node | undefined {
  if (node.type !== 'Identifier') return undefined;
  const variable = findVariable(code, node);
  const definition = variable?.defs.length === 1 ? variable.defs[0] : undefined;
  if (variable === undefined || definition?.type !== 'Variable') return undefined;
  const { id, init } = definition.node;
  const isAssignedOnce = variable.references.every((one) => !one.isWrite() || one.init === true);
  if (id.type !== 'Identifier' || !init || !isAssignedOnce) return undefined;
  return withoutWait(init);
}

function withoutWait(node: Node): Node {
  if (node.type === 'AwaitExpression') return node.argument;
  return node.type === 'YieldExpression' && node.argument ? node.argument : node;
}

function memberOf(node: Node): { object: Node; property: string } | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  const { object, property, computed } = node;
  if (!computed && property.type === 'Identifier') return { object, property: property.name };
  if (!computed || property.type !== 'Literal') return undefined;
  return typeof property.value === 'string' ? { object, property: property.value } : undefined;
}

function findVariable(code: SourceCode, node: { name: string } & Node): Scope.Variable | undefined {
  let scope: Scope.Scope | null = code.getScope(node);
  while (scope !== null) {
    const variable = scope.set.get(node.name);
    if (variable !== undefined) return variable;
    scope = scope.upper;
  }
  return undefined;
}
