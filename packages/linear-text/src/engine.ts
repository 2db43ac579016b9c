import { RE2JS, RE2Set } from 're2js';

/**
 * The parts of re2js used beyond its documented functions: the tree built by its parser and the program built
 * by its compiler. Both are public members, described here because the package types them as `any`; operation
 * names are read from the classes themselves, so that renumbering has no effect.
 */

/** A node of a parsed and simplified pattern. */
export interface PatternNode {
  readonly op: number;
  readonly subs: readonly PatternNode[];
  /** Code points of a literal; of a character class pairs of first and last code point, sorted. */
  readonly runes: ArrayLike<number>;
}

/** An instruction of a compiled pattern. */
export interface Instruction {
  readonly op: number;
  /** The next instruction. */
  readonly out: number;
  /** The second next one of an alternative; the assertions of an empty-width instruction. */
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(code: number): boolean;
}

/** A compiled pattern. Instruction 0 never matches. */
export interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

/** A compiled pattern with properties known to the engine. */
export interface CompiledProgram {
  readonly program: Program;
  /** Texts that all occur in every text with a match, verbatim; often there are none. */
  readonly needles: readonly string[];
  /** Whether every text with the only needle has a match: the pattern is a pure literal. */
  readonly isLiteral: boolean;
  /** Begins a search for the matches in a text. */
  readonly finder: (text: string) => Finder;
}

/** The next match in a text; null after the last one. Matches do not overlap. */
export type Finder = () => { readonly start: number; readonly end: number } | null;

/** Kinds of nodes of a parsed pattern. */
export const NodeOp = constantsOf(parsePattern('a', false), 'Op') as {
  readonly [name in
    | 'EMPTY_MATCH'
    | 'LITERAL'
    | 'CHAR_CLASS'
    | 'ANY_CHAR'
    | 'BEGIN_LINE'
    | 'END_LINE'
    | 'BEGIN_TEXT'
    | 'END_TEXT'
    | 'WORD_BOUNDARY'
    | 'NO_WORD_BOUNDARY'
    | 'CAPTURE'
    | 'PLUS'
    | 'QUEST'
    | 'CONCAT'
    | 'ALTERNATE']: number;
};

/** Kinds of instructions. */
export const InstructionOp = constantsOf(compileProgram('a', false).program.inst[0]) as {
  readonly [name in
    | 'ALT'
    | 'ALT_MATCH'
    | 'CAPTURE'
    | 'EMPTY_WIDTH'
    | 'FAIL'
    | 'MATCH'
    | 'NOP'
    | 'RUNE'
    | 'RUNE1'
    | 'RUNE_ANY'
    | 'RUNE_ANY_NOT_NL']: number;
};

/** The tree of a pattern. Throws for an invalid one. */
export function parsePattern(pattern: string, ignoreCase: boolean): PatternNode {
  const set = new RE2Set(RE2Set.UNANCHORED, flagsFor(ignoreCase));
  set.add(pattern);
  return set.regexps[0] as PatternNode;
}

/** The program of a pattern. Throws for an invalid one. */
export function compileProgram(pattern: string, ignoreCase: boolean): CompiledProgram {
  const compiled = RE2JS.compile(pattern, flagsFor(ignoreCase));
  const engine = compiled.re2();
  const finder = (text: string): Finder => {
    const matcher = compiled.matcher(text);
    return () => (matcher.find() ? { start: matcher.start(), end: matcher.end() } : null);
  };
  const program = engine.prog as Program;
  if (engine.prefixComplete) return { program, needles: [engine.prefix ?? ''], isLiteral: true, finder };
  return { program, needles: needlesOf(engine.prefilter), isLiteral: false, finder };
}

/** Empty-width assertions about the beginning or end of a line or text, as numbered by RE2. */
const EDGES = 15;

/** Whether a program has assertions about the beginning or end of a line or text. */
export function asksForEdges({ inst }: Program): boolean {
  return inst.some(({ op, arg }) => op === InstructionOp.EMPTY_WIDTH && (arg & EDGES) !== 0);
}

/** Prefilter of the engine: one text, several texts, or something else, which is not used. */
interface EngineFilter {
  readonly type: number;
  readonly str: string;
  readonly subs: readonly EngineFilter[];
}

function needlesOf(filter: EngineFilter | null): readonly string[] {
  if (filter === null) return [];
  const Type = constantsOf(filter, 'Type') as { readonly EXACT: number; readonly AND: number };
  if (filter.type === Type.EXACT) return [filter.str];
  if (filter.type !== Type.AND) return [];
  const needles = filter.subs.filter(({ type }) => type === Type.EXACT).map(({ str }) => str);
  // Two filter nearly as well as all of them.
  return needles.sort((left, right) => right.length - left.length).slice(0, 2);
}

function flagsFor(ignoreCase: boolean): number {
  return ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
}

function constantsOf(instance: object | undefined, member?: string): unknown {
  const type = instance?.constructor as unknown as Record<string, unknown>;
  return member === undefined ? type : type[member];
}
