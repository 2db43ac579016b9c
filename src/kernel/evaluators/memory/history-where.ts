import {
  type CelType,
  type CompiledExpression,
  type Conjunct,
  compileExpression,
  conjunctsOf,
  type ExpressionProblem,
  inspectExpression,
  type MemberPath,
  type VariableTypes,
} from '../../../../packages/cel/src/index.js';
import { ANY, plain, type StepTypes, UNKNOWN_STEP, unionOf } from '../cel/variables.js';

/** The variables of `where`, in the order of their indexes: an earlier event, and the present step. */
export const WHERE_VARIABLES = ['event', 'input', 'output', 'context', 'step'] as const;

/** A term that compares the event with the step by an equality: equal values have equal hashes. */
export interface Link {
  readonly event: CompiledExpression;
  readonly step: CompiledExpression;
}

/** The terms of all texts of a `where`, by what they read. */
export interface Where {
  /** Of the event alone: decided when it is recorded. */
  readonly filters: readonly CompiledExpression[];
  readonly links: readonly Link[];
  /** Of the present step alone. */
  readonly guards: readonly CompiledExpression[];
  /** Of both, in another way than by an equality: decided for each event that is kept. */
  readonly mixed: readonly CompiledExpression[];
  /** What the mixed terms read of the event, without what another path includes. */
  readonly facts: readonly MemberPath[];
}

/** The types of the variables, for events and a present step with data of these types. */
export function whereTypes(event: StepTypes, present: StepTypes): VariableTypes {
  const step = objectType({ type: plain('string'), name: plain('string') });
  const types: Readonly<Record<(typeof WHERE_VARIABLES)[number], CelType>> = {
    event: objectType({
      kind: plain('string'),
      step,
      input: event.input,
      output: event.output,
      error: unionOf([plain('string'), plain('null')]),
      context: event.context,
    }),
    input: present.input,
    output: present.output,
    context: present.context,
    step,
  };
  return new Map(WHERE_VARIABLES.map((name) => [name, types[name]]));
}

function objectType(members: Readonly<Record<string, CelType>>): CelType {
  const all = Object.entries(members).map(([name, type]) => [name, { type, required: true }] as const);
  return { kind: 'object', open: false, members: new Map(all) };
}

/** The types without schemas of steps. */
export const UNKNOWN_WHERE = whereTypes({ input: ANY, output: ANY, context: ANY }, UNKNOWN_STEP);

/** The problems of a text of `where`. */
export function whereProblems(text: string, variables = UNKNOWN_WHERE): readonly ExpressionProblem[] {
  const { problems, resultType } = inspectExpression(text, variables);
  if (resultType === null) return problems;
  const timed = conjunctsOf(text, variables).find(({ readsNow }) => readsNow);
  if (timed === undefined) return problems;
  const { start, end } = timed;
  const message = 'where does not know the time: write the length of the window in within';
  return [...problems, { code: 'unknown_name', start, end, message, suggestion: null }];
}

/** Compiles texts without problems. */
export function compileWhere(texts: readonly string[]): Where {
  const terms = texts.flatMap((text) => conjunctsOf(text, UNKNOWN_WHERE));
  const links: Link[] = [];
  const filters: CompiledExpression[] = [];
  const guards: CompiledExpression[] = [];
  const mixed: CompiledExpression[] = [];
  const facts: MemberPath[] = [];
  for (const term of terms) {
    const reads = readingOf(term);
    if (reads === 'event') filters.push(compiled(term.text));
    else if (reads !== 'both') guards.push(compiled(term.text));
    else {
      const link = linkOf(term);
      if (link !== null) links.push(link);
      else {
        mixed.push(compiled(term.text));
        facts.push(...term.reads.filter(([root]) => root === 'event'));
      }
    }
  }
  return { filters, links, guards, mixed, facts: withoutIncluded(facts) };
}

function linkOf({ sides }: Conjunct): Link | null {
  if (sides === null) return null;
  const [left, right] = sides;
  const [one, other] = [readingOf(left), readingOf(right)];
  if (one === 'event' && other === 'step') return { event: compiled(left.text), step: compiled(right.text) };
  if (one === 'step' && other === 'event') return { event: compiled(right.text), step: compiled(left.text) };
  return null;
}

/** Whether a part reads an earlier event, the present step, both, or neither. */
function readingOf({ reads }: Pick<Conjunct, 'reads'>): 'event' | 'step' | 'both' | 'nothing' {
  const ofEvent = reads.filter(([root]) => root === 'event').length;
  if (reads.length === 0) return 'nothing';
  if (ofEvent === 0) return 'step';
  return ofEvent === reads.length ? 'event' : 'both';
}

function compiled(text: string): CompiledExpression {
  return compileExpression(text, { variables: UNKNOWN_WHERE, strictTypes: false });
}

function withoutIncluded(paths: readonly MemberPath[]): readonly MemberPath[] {
  const shortest = [...paths].sort((one, other) => one.length - other.length);
  const kept: MemberPath[] = [];
  for (const path of shortest) {
    if (!kept.some((owner) => owner.every((name, index) => path[index] === name))) kept.push(path);
  }
  return kept;
}
