import {
  type CompiledExpression,
  compileExpression,
  ExpressionError,
  type ExpressionProblem,
} from '../../../../packages/cel/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import { BoundedMap } from '../../../contract/runtime/bounded-map.js';
import type { AgentReading } from '../../core/types.js';
import { UNKNOWN_STEP, variableTypes } from './variables.js';

/** An expression as compiled without schemas of steps, or its problems. */
type ExpressionReading =
  | { readonly compiled: CompiledExpression }
  | { readonly problems: readonly ExpressionProblem[] };

/** Compiled expressions that are kept, and their memory in bytes: definitions are read far more often than changed. */
const KEPT = {
  entries: 1_000,
  weight: 16 * 1024 * 1024,
  weightOf: (reading: ExpressionReading) => ('compiled' in reading ? reading.compiled.sizeBytes : 1_000),
};
const known = new BoundedMap<string, ExpressionReading>(KEPT);
/** The variables of data of unknown types. */
export const VARIABLES = variableTypes(UNKNOWN_STEP, 'input');

/** Compiles an expression over data of unknown types. Never throws for a text. */
export function readExpression(text: string): ExpressionReading {
  const found = known.use(text);
  if (found !== undefined) return found;
  const reading = compiled(text);
  known.set(text, reading);
  return reading;
}

function compiled(text: string): ExpressionReading {
  try {
    return { compiled: compileExpression(text, { variables: VARIABLES, strictTypes: true }) };
  } catch (error) {
    if (error instanceof ExpressionError) return { problems: error.problems };
    throw error;
  }
}

/** A problem of an expression as a sentence: where it is, what is wrong, and what may be meant. */
export function problemText({ start, message, suggestion }: ExpressionProblem): string {
  const meant = suggestion === null ? '' : `; did you mean ${quoted(suggestion)}?`;
  return `at character ${start + 1}: ${message}${meant}`;
}

/** The variable of a path that an expression reads, for example `input` of `input.amount`. */
export function rootOf(read: string): string {
  return /^[^.[?]*/.exec(read)?.[0] ?? '';
}

/** What an expression with these reads needs of the agent. */
export function agentReading(reads: readonly string[]): AgentReading {
  const ofAgent = reads.filter((read) => rootOf(read) === 'agent');
  if (ofAgent.length === 0) return 'nothing';
  return ofAgent.every((read) => read === 'agent.name') ? 'name' : 'metadata';
}
