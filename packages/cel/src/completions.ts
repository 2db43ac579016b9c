import { analyse } from './analysis.js';
import { NOW } from './check.js';
import { LIBRARY, type LibraryFunction } from './library.js';
import { itemOf } from './member-types.js';
import { ProblemList } from './problem.js';
import { ANY, type Signature } from './signatures.js';
import { readTokens, type Token } from './tokens.js';
import { alternatives, isAssignable, typeName } from './type-relations.js';
import type { CelType, Completion, VariableTypes } from './types.js';

/** Proposals for the text from `from` to the cursor. */
export interface Completions {
  readonly from: number;
  readonly items: readonly Completion[];
}

/** Most proposals. */
const MAX_ITEMS = 200;

const MACROS: readonly Completion[] = [
  ['all', 'list.all(x, condition): bool', 'Whether the condition holds for every item.'],
  ['exists', 'list.exists(x, condition): bool', 'Whether the condition holds for an item.'],
  ['exists_one', 'list.exists_one(x, condition): bool', 'Whether the condition holds for one item only.'],
  ['filter', 'list.filter(x, condition): list', 'The items for which the condition holds.'],
  ['map', 'list.map(x, value): list', 'A value for each item.'],
  ['transformList', 'map.transformList(key, value, result): list', 'A value for each member or item.'],
  ['transformMap', 'map.transformMap(key, value, result): map', 'The keys with other values.'],
].map(([label = '', detail = '', documentation = '']) => ({ label, kind: 'macro', detail, documentation }));

const WORDS: readonly Completion[] = [
  ...['true', 'false', 'null', 'in'].map((label) => ({
    label,
    kind: 'keyword' as const,
    detail: label === 'in' ? 'value in list: bool' : label,
    documentation: label === 'in' ? 'Whether a list has a value, or a map a key.' : 'A constant.',
  })),
  {
    label: 'has',
    kind: 'macro',
    detail: 'has(x.member): bool',
    documentation: 'Whether an object has a member.',
  },
];

/** What may stand at a place of the text, in UTF-16 code units. Linear in the text; never throws. */
export function completionsAt(text: string, cursor: number, variables: VariableTypes): Completions {
  const before = text.slice(0, Math.max(0, Math.min(cursor, text.length)));
  const tokens = readTokens(before, new ProblemList());
  const last = tokens.at(-1);
  const isPartial = last?.kind === 'name' && last.end === before.length;
  const from = isPartial ? last.start : before.length;
  const typed = before.slice(from);
  if (isInText(before, tokens)) return { from: before.length, items: [] };
  const rest = isPartial ? tokens.slice(0, -1) : tokens;
  const scope = withMacroVariables(before, rest, variables);
  const items = rest.at(-1)?.text === '.' ? afterDot(before, rest.slice(0, -1), scope) : atStart(scope);
  const prefix = typed.toLowerCase();
  const found = items.filter(({ label }) => label.toLowerCase().startsWith(prefix));
  return { from, items: found.slice(0, MAX_ITEMS) };
}

/** Whether the text ends within a text or a comment. */
function isInText(before: string, tokens: readonly Token[]): boolean {
  const end = tokens.at(-1)?.end ?? 0;
  return /[^\t\n\f\r ]/.test(before.slice(end));
}

function afterDot(text: string, tokens: readonly Token[], variables: VariableTypes): Completion[] {
  const start = operandStart(tokens, tokens.length - 1);
  const [first, end] = [tokens[start], tokens.at(-1)];
  if (first === undefined || end === undefined) return [];
  const operand = text.slice(first.start, end.end);
  const namespace = namespaceItems(operand, variables);
  if (namespace.length > 0) return namespace;
  const type = typeOf(operand, variables);
  return type === null ? [] : [...memberItems(type), ...methodItems(type)];
}

/** The type of an operand; null if it is none. */
function typeOf(text: string, variables: VariableTypes): CelType | null {
  const { checked, problems } = analyse(text, variables);
  // The result of an operand is no bool; but what does not exist has no members either.
  return problems.some(({ code }) => code.startsWith('unknown_')) ? null : (checked?.type ?? null);
}

/** Index of the token at which the operand begins that ends at `index`. */
function operandStart(tokens: readonly Token[], index: number): number {
  let at = index;
  for (;;) {
    const token = tokens[at];
    if (token === undefined) return at + 1;
    if (token.text === ')' || token.text === ']') {
      at = token.match;
      const before = tokens[at - 1];
      const continues = before?.kind === 'name' || before?.text === ')' || before?.text === ']';
      if (at >= 0 && continues && before.text !== 'in') {
        at -= 1;
        continue;
      }
      return Math.max(at, 0);
    }
    if (token.kind === 'sign') return at + 1;
    if (tokens[at - 1]?.text !== '.') return at;
    at -= 2;
  }
}

/** The variables with those of the macros around the end of the text. */
function withMacroVariables(text: string, tokens: readonly Token[], variables: VariableTypes): VariableTypes {
  const scope = new Map(variables);
  tokens.forEach((token, index) => {
    if (token.text !== '(' || token.match >= 0) return;
    const [name, dot, variable, comma] = [
      tokens[index - 1],
      tokens[index - 2],
      tokens[index + 1],
      tokens[index + 2],
    ];
    const isMacro = MACROS.some(({ label }) => label === name?.text) && dot?.text === '.';
    if (!isMacro || variable?.kind !== 'name' || comma?.text !== ',') return;
    const [first, end] = [tokens[operandStart(tokens, index - 3)], tokens[index - 3]];
    const range =
      first === undefined || end === undefined ? null : typeOf(text.slice(first.start, end.end), scope);
    scope.set(variable.text, (range === null ? null : itemOf(range)) ?? ANY);
  });
  return scope;
}

function memberItems(type: CelType): Completion[] {
  const found = new Map<string, Completion>();
  for (const one of alternatives(type)) {
    if (one.kind !== 'object') continue;
    for (const [label, member] of one.members) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(label) || found.has(label)) continue;
      const detail = `${typeName(member.type)}${member.required ? '' : ', may be missing'}`;
      found.set(label, { label, kind: 'member', detail, documentation: member.description ?? '' });
    }
  }
  return [...found.values()];
}

function methodItems(type: CelType): Completion[] {
  const methods = [...LIBRARY.values()].filter(
    ({ isMethod, signatures }) =>
      isMethod && signatures.some(({ params }) => isAssignable(type, params[0] ?? ANY)),
  );
  const hasItems = itemOf(type) !== null;
  return [...(hasItems ? MACROS : []), ...methods.map((one) => functionItem(one, one.name, type))];
}

function namespaceItems(namespace: string, variables: VariableTypes): Completion[] {
  if (variables.has(namespace)) return [];
  return [...LIBRARY.values()]
    .filter(({ name, isMethod }) => !isMethod && name.startsWith(`${namespace}.`))
    .map((one) => functionItem(one, one.name.slice(namespace.length + 1)));
}

function functionItem(
  { signatures, documentation }: LibraryFunction,
  label: string,
  target?: CelType,
): Completion {
  const fitting =
    target === undefined
      ? signatures
      : signatures.filter(({ params }) => isAssignable(target, params[0] ?? ANY));
  const shown: readonly Signature[] = fitting.length > 0 ? fitting : signatures;
  return { label, kind: 'function', detail: shown.map(({ text }) => text).join(', '), documentation };
}

function atStart(variables: VariableTypes): Completion[] {
  const names = [...variables].map(
    ([label, type]): Completion => ({ label, kind: 'variable', detail: typeName(type), documentation: '' }),
  );
  if (!variables.has(NOW)) {
    names.push({
      label: NOW,
      kind: 'variable',
      detail: 'timestamp',
      documentation: 'The time of the evaluation.',
    });
  }
  const functions = [...LIBRARY.values()].filter(({ isMethod }) => !isMethod);
  const plain = functions.filter(({ name }) => !name.includes('.') && name !== 'dyn');
  const namespaces = new Set(
    functions.map(({ name }) => name.split('.')).flatMap(([head = '', tail]) => (tail ? [head] : [])),
  );
  const shown = [...namespaces].filter((name) => !plain.some((one) => one.name === name));
  return [
    ...names,
    ...plain.map((one) => functionItem(one, one.name)),
    ...shown.map(
      (label): Completion => ({ label, kind: 'function', detail: `${label}.…`, documentation: 'Functions.' }),
    ),
    ...WORDS,
  ];
}
