import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { NotCertain, NotParsed, type ParsedQuery } from '../../../../packages/sql-reader/src/index.js';
import type { CheckCall } from '../../core/evaluator.js';
import type { EvaluatorResult } from '../../core/types.js';
import { hasAllowList } from './allow-list.js';
import type { SqlConfig } from './config.js';
import { isProse, isQueryLike, isSentence, isStopped } from './prose.js';
import { firstStatement, MAX_PLACES } from './prose-statements.js';
import { PASSED, type Violation, violated, violation } from './result.js';
import { runChecks } from './run-checks.js';
import { MAX_STATEMENT_LEAVES, type StatementLeaf, statementStart } from './statement-leaves.js';
import { isUnreadStatement } from './unread-statements.js';

/** The texts checked in one step. */
export interface SqlTexts {
  /** The query; null when there is none. */
  readonly query: string | null;
  /** Other texts of the data, which are checked if they are statements. */
  readonly leaves: readonly StatementLeaf[];
  readonly context: JsonObject;
}

/** Parses a text. Throws, or rejects with, NotParsed when it is not SQL of the dialect. */
export type Parse = (text: string, signal: () => AbortSignal) => ParsedQuery | Promise<ParsedQuery>;

/** Code units, or texts, per turn of the event loop: some 10 ms, or 50 ms for one hostile text. */
const MAX_TURN_LENGTH = 50_000;
const MAX_TURN_TEXTS = 64;
/** Most texts that are tried at the places of one text: some four at each. */
const MAX_TRIED = 1_000;
/** Search steps equivalent in time to parsing one code unit. */
const STEPS_PER_UNIT = 10;

type Outcome = ParsedQuery | NotParsed;
/** A violation, and the text in which it was found. */
interface Finding {
  readonly found: Violation;
  readonly text: string;
}
/** Yields one text after the other, receives its parse outcome, and returns the first violation. */
type Inspection = Generator<string, Finding | null, Outcome>;

/** What was read is no statement as a whole. */
const NO_STATEMENT = 'no statement';
const UNPARSED = violation('The query cannot be parsed');
/** The escape syntax of ODBC and JDBC for calls of procedures. */
const DRIVER_CALL = /^[\s;(]*\{[\s?=]*call\b/i;

/**
 * Creates the check of a query and of the texts besides it, in their order; the first violation decides. A
 * text besides the query that proves to be no statement is skipped. Without a query, a text that begins like
 * a statement must be one, because nothing else defines the purpose of the data.
 */
export function createTextsCheck(config: SqlConfig, parse: Parse) {
  function* inspect({ query, leaves, context }: SqlTexts): Inspection {
    if (query !== null) {
      const outcome = yield query;
      const found = outcome instanceof NotParsed ? UNPARSED : runChecks(outcome, config, context);
      if (found !== null) return { found, text: query };
    }
    const [first] = leaves;
    if (first !== undefined && leaves.length > MAX_STATEMENT_LEAVES) {
      const message = `More than ${MAX_STATEMENT_LEAVES} texts begin like statements`;
      return { found: violation(message), text: first.text };
    }
    for (const leaf of leaves) {
      const { path, text } = leaf;
      const seen = leaf.begins ? yield* inspectLeaf(text, query === null, context) : NO_STATEMENT;
      const found = seen === NO_STATEMENT ? yield* inspectPlaces(leaf, config, context) : seen;
      if (found === null) continue;
      return { found: { ...found, message: `${found.message} (in the member ${path})` }, text };
    }
    return null;
  }

  function* inspectLeaf(
    text: string,
    isOnlyText: boolean,
    context: JsonObject,
  ): Generator<string, Violation | typeof NO_STATEMENT | null, Outcome> {
    const outcome = yield text;
    // T-SQL calls a procedure by its name alone, with bare words as arguments: no words tell a sentence.
    const prose = config.dialect === 'tsql' ? isStopped(text) : isProse(text);
    if (!(outcome instanceof NotParsed)) {
      if (!isStatement(outcome) || (prose && onlyShows(outcome))) return NO_STATEMENT;
      return runChecks(outcome, config, context);
    }
    const mustParse = isOnlyText && !prose;
    const start = Math.max(0, statementStart(text, config.dialect));
    const begun = text.slice(start);
    if (mustParse || outcome instanceof NotCertain) return UNPARSED;
    if (isUnreadStatement(begun, config.dialect) && !isStopped(text)) return UNPARSED;
    // PostgreSQL is read as a whole; elsewhere it may be one that is not understood.
    if (config.dialect !== 'postgres' && hasAllowList(config) && isQueryLike(begun)) return UNPARSED;
    // After a label or an opening brace, the parser must not see these.
    const lead = text.slice(0, start);
    if (DRIVER_CALL.test(text)) return UNPARSED;
    if (/[:>{]/.test(lead) && isEffective(yield begun)) return UNPARSED;
    // Some databases execute the first statement before they parse the second.
    const first = firstStatement(text, config.dialect);
    if (first === null || (prose && isSentence(first))) return NO_STATEMENT;
    return isEffective(yield first) ? UNPARSED : NO_STATEMENT;
  }

  const outcomeOf = (text: string, call: CheckCall): Outcome | Promise<Outcome> => {
    call.spend?.(text.length * STEPS_PER_UNIT);
    try {
      const parsed = parse(text, () => call.signal);
      return parsed instanceof Promise ? parsed.catch(refusal) : parsed;
    } catch (error) {
      return refusal(error);
    }
  };

  async function goOn(
    inspection: Inspection,
    pending: Outcome | Promise<Outcome>,
    call: CheckCall,
  ): Promise<EvaluatorResult> {
    let step = inspection.next(await pending);
    while (step.done !== true) {
      // Lets an abort take effect between texts; and texts parsed on this thread must not block it.
      await nextTurn();
      call.signal.throwIfAborted();
      step = inspection.next(await outcomeOf(step.value, call));
    }
    return conclude(step.value, call);
  }

  return (texts: SqlTexts, call: CheckCall): EvaluatorResult | Promise<EvaluatorResult> => {
    const inspection = inspect(texts);
    let step = inspection.next();
    let length = 0;
    let count = 0;
    while (step.done !== true) {
      if (count >= MAX_TURN_TEXTS || length > MAX_TURN_LENGTH) {
        const { value } = step;
        return goOn(
          inspection,
          nextTurn().then(() => outcomeOf(value, call)),
          call,
        );
      }
      const outcome = outcomeOf(step.value, call);
      if (outcome instanceof Promise) return goOn(inspection, outcome, call);
      length += step.value.length;
      count += 1;
      step = inspection.next(outcome);
    }
    return conclude(step.value, call);
  };
}

/** Statements between other words. What is no statement there is a sentence. */
function* inspectPlaces(
  { text, places }: StatementLeaf,
  config: SqlConfig,
  context: JsonObject,
): Generator<string, Violation | null, Outcome> {
  const tooMany = violation(`More than ${MAX_PLACES} places of a text begin like statements`);
  if (places.length > MAX_PLACES) return tooMany;
  let end = 0;
  let tried = 0;
  for (const { start, candidates } of places) {
    // What a statement that was found contains has been checked with it.
    if (start < end) continue;
    for (const candidate of candidates) {
      if (candidate === text.trim()) continue;
      tried += 1;
      if (tried > MAX_TRIED) return tooMany;
      const outcome = yield candidate;
      if (outcome instanceof NotParsed || !isStatement(outcome)) continue;
      const found = runChecks(outcome, config, context);
      if (found !== null) return found;
      end = start + candidate.length;
      break;
    }
  }
  return null;
}

function conclude(finding: Finding | null, { detail }: CheckCall): EvaluatorResult {
  return finding === null ? PASSED : violated(finding.found, finding.text, detail);
}

/** Whether a parsed text may have an effect. `BEGIN` and `VALUES (1)` have none, so they violate nothing. */
function isStatement({ statements }: ParsedQuery): boolean {
  return statements.some(
    ({ operations, tables, hidesTables, uses }) =>
      operations.length > 0 || tables.length > 0 || hidesTables || uses.length > 0,
  );
}

/** Whether a text only shows something, as the general parser reads any words after SHOW. */
function onlyShows({ statements }: ParsedQuery): boolean {
  const operations = statements.flatMap((statement) => statement.operations);
  return operations.every(({ name, also }) => name === 'SHOW' || also.includes('SHOW'));
}

/** Whether a text is a statement with an effect, or may be one. */
function isEffective(outcome: Outcome): boolean {
  return outcome instanceof NotCertain || (!(outcome instanceof NotParsed) && isStatement(outcome));
}

/** A parse failure is a violation. Any other failure is an evaluator error. */
function refusal(error: unknown): NotParsed {
  if (error instanceof NotParsed) return error;
  throw error;
}
