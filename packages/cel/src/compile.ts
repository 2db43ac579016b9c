import type { LinearPattern } from '../../linear-text/src/index.js';
import { childrenOf, countNodes, type Node } from './ast.js';
import type { Checked } from './check.js';
import { keyOf, LIBRARY } from './library.js';
import { compileCondition, compileLogic } from './logic.js';
import { compileMacro } from './macros.js';
import { compileHas, compileSelect } from './member-access.js';
import { compileOperator, noOverload } from './operators.js';
import { compileMatches } from './patterns.js';
import { type Code, LimitExceeded, Run } from './run.js';
import type { Implementation } from './signatures.js';
import { CelMap, Fault, kindOf, type MapKey, mapKeyOf, type Value } from './values.js';

/** Receives the value of each sub-expression whenever it is computed. */
export type Recorder = (node: Node, value: Value) => void;

/** Longest part of the text of an expression that a message quotes. */
const QUOTED = 80;
/** Largest constants that are computed with the expression. */
const MAX_FOLDED = 1_000;
const BAD_KEY = new Fault('a key of a map is neither a text, a bool nor a whole number');
const REPEATED_KEY = new Fault('a map has a key twice');

export interface Compilation {
  readonly text: string;
  readonly checked: Checked;
  readonly patterns: ReadonlyMap<Node, LinearPattern>;
  /** Without it, constant parts are computed now. */
  readonly recorder?: Recorder;
}

export interface Compiled {
  readonly code: Code;
  /** The value, if it depends on no variable. */
  readonly constant: Value | undefined;
}

/** Compiles a checked tree to closures, one for each node, without recursion over data and without allocation. */
export function compileTree(tree: Node, compilation: Compilation): Compiled {
  const { text, checked, patterns, recorder } = compilation;

  const quoted = ({ start, end }: Node): string => {
    const part = text.slice(start, end);
    return part.length > QUOTED ? `${part.slice(0, QUOTED)}…`.toWellFormed() : part;
  };

  const emit = (node: Node): Compiled => {
    const compiled = constantOr(node, parts(node));
    if (recorder === undefined || node.kind === 'const') return compiled;
    const { code } = compiled;
    const recorded: Code = (run) => {
      const value = code(run);
      recorder(node, value);
      return value;
    };
    return { code: recorded, constant: undefined };
  };

  /** Computes what depends on constants only, once. */
  const constantOr = (node: Node, { code, children }: Parts): Compiled => {
    if (recorder !== undefined && node.kind !== 'const') return { code, constant: undefined };
    const isConstant = node.kind === 'const' || isDecided(node, children);
    if (!isConstant) return { code, constant: undefined };
    try {
      const value = code(new Run(0, checked.slots));
      if (isLarge(value)) return { code, constant: undefined };
      return { code: () => value, constant: value };
    } catch (error) {
      if (error instanceof LimitExceeded) return { code, constant: undefined };
      throw error;
    }
  };

  const parts = (node: Node): Parts => {
    const children = childrenOf(node).map(emit);
    const codes = children.map(({ code }) => code);
    const [one, two, three] = codes as [Code, Code, Code];
    const as = (code: Code): Parts => ({ code, children });
    switch (node.kind) {
      case 'const': {
        const { value } = node;
        return as(() => value);
      }
      case 'name': {
        const resolved = checked.names.get(node);
        if (resolved === undefined) return as(() => new Fault(`there is no variable ${node.name}`));
        if (resolved.kind === 'now') return as((run) => run.now());
        if (resolved.kind === 'type') return as(() => resolved.value);
        if (resolved.kind === 'slot') {
          const { slot } = resolved;
          return as((run) => run.slots[slot] as Value);
        }
        const { index } = resolved;
        return as((run) => run.variable(index));
      }
      case 'select':
        return as(node.test ? compileHas(one, node.field) : compileSelect(one, node.field, quoted(node)));
      case 'call': {
        const pattern = patterns.get(node);
        if (pattern !== undefined) return as(compileMatches(one, pattern));
        return as(
          compileOperator(node.name, codes, quoted(node)) ?? compileCall(node.name, node.isMethod, codes),
        );
      }
      case 'and':
      case 'or':
        return as(compileLogic(undecided(children, node.kind === 'or'), node.kind === 'or'));
      case 'condition':
        return as(compileCondition(one, two, three));
      case 'list':
        return as(compileList(codes));
      case 'map':
        return as(compileMap(codes));
      case 'macro': {
        const slot = checked.slotOf.get(node) ?? 0;
        const { macro, second } = node;
        const filter = node.filter === null ? null : two;
        const body = node.filter === null ? two : three;
        const work = 1 + countNodes(node.body) + (node.filter === null ? 0 : countNodes(node.filter));
        return as(compileMacro({ macro, range: one, slot, hasTwo: second !== null, filter, body, work }));
      }
      case 'bind': {
        const slot = checked.slotOf.get(node) ?? 0;
        return as((run) => {
          const value = one(run);
          if (value instanceof Fault) return value;
          run.slots[slot] = value;
          return two(run);
        });
      }
    }
  };
  return emit(tree);
}

interface Parts {
  readonly code: Code;
  readonly children: readonly Compiled[];
}

/** Whether the value of a node is known before evaluation. */
function isDecided(node: Node, children: readonly Compiled[]): boolean {
  const [first] = children;
  if (node.kind === 'and' && children.some(({ constant }) => constant === false)) return true;
  if (node.kind === 'or' && children.some(({ constant }) => constant === true)) return true;
  if (node.kind === 'name') return false;
  if (node.kind === 'macro' || node.kind === 'bind') return false;
  if (node.kind === 'condition' && first?.constant !== undefined) {
    const chosen = children[first.constant === true ? 1 : 2];
    return typeof first.constant !== 'boolean' || chosen?.constant !== undefined;
  }
  return children.every(({ constant }) => constant !== undefined);
}

/** The operands of a chain that may decide it: constants that do not are left out. */
function undecided(children: readonly Compiled[], deciding: boolean): readonly Code[] {
  const decided = children.find(({ constant }) => constant === deciding);
  if (decided !== undefined) return [decided.code];
  const open = children.filter(({ constant }) => constant !== !deciding);
  return (open.length === 0 ? children : open).map(({ code }) => code);
}

function isLarge(value: Value): boolean {
  if (typeof value === 'string') return value.length > MAX_FOLDED;
  return Array.isArray(value) && value.length > MAX_FOLDED;
}

function compileList(items: readonly Code[]): Code {
  return (run) => {
    run.makeItems(items.length);
    const list: Value[] = [];
    for (const item of items) {
      const value = item(run);
      if (value instanceof Fault) return value;
      list.push(value);
    }
    return list;
  };
}

/** @param codes keys and values in turns */
function compileMap(codes: readonly Code[]): Code {
  return (run) => {
    run.makeItems(codes.length);
    const entries = new Map<MapKey, readonly [Value, Value]>();
    for (let index = 0; index < codes.length; index += 2) {
      const key = (codes[index] as Code)(run);
      if (key instanceof Fault) return key;
      const value = (codes[index + 1] as Code)(run);
      if (value instanceof Fault) return value;
      const normal = mapKeyOf(key);
      if (normal === undefined || (typeof key === 'object' && key !== null && kindOf(key) === 'double'))
        return BAD_KEY;
      if (entries.has(normal)) return REPEATED_KEY;
      entries.set(normal, [key, value]);
    }
    return new CelMap(entries);
  };
}

/** Compiles a call of the library, by its number of arguments. */
function compileCall(name: string, isMethod: boolean, codes: readonly Code[]): Code {
  const found = LIBRARY.get(keyOf(name, isMethod));
  if (found === undefined) return () => new Fault(`there is no function ${name}`);
  const { implementations } = found;
  const isVariadic = found.signatures.some((signature) => signature.isVariadic);
  const isKnown = isVariadic || found.signatures.some(({ params }) => params.length === codes.length);
  if (!isKnown) return () => new Fault(`${name} does not take ${codes.length} arguments`);
  const compute = (run: Run, args: readonly Value[]): Value => {
    const [a = NONE, b = NONE, c = NONE, d = NONE] = isVariadic ? [args] : args;
    for (const implementation of implementations) {
      const value = implementation(run, a, b, c, d);
      if (value !== undefined) return value;
    }
    return noOverload(name, args);
  };
  const [one, two] = codes;
  const [only] = implementations;
  if (!isVariadic && implementations.length === 1 && only !== undefined && one !== undefined) {
    if (codes.length === 1) return unary(name, only, one);
    if (codes.length === 2 && two !== undefined) return binary(name, only, one, two);
  }
  return (run) => {
    const args: Value[] = [];
    for (const code of codes) {
      const value = code(run);
      if (value instanceof Fault) return value;
      args.push(value);
    }
    return compute(run, args);
  };
}

/** Implementations tell an absent argument by undefined, which is no value. */
const NONE = undefined as unknown as Value;

function unary(name: string, call: Implementation, one: Code): Code {
  return (run) => {
    const value = one(run);
    if (value instanceof Fault) return value;
    const found = call(run, value, NONE, NONE, NONE);
    return found === undefined ? noOverload(name, [value]) : found;
  };
}

function binary(name: string, call: Implementation, one: Code, two: Code): Code {
  return (run) => {
    const left = one(run);
    if (left instanceof Fault) return left;
    const right = two(run);
    if (right instanceof Fault) return right;
    const value = call(run, left, right, NONE, NONE);
    return value === undefined ? noOverload(name, [left, right]) : value;
  };
}
