import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckCall } from '../../core/evaluator.js';
import type { EvaluatorResult } from '../../core/types.js';
import type { JsonObject } from '../../json/json-value.js';
import { NotCertain, NotParsed, type ParsedQuery } from '../../sql-reader/model.js';
import { type Violation, violation } from './checks/check.js';
import { runChecks } from './checks/run-checks.js';
import type { SqlConfig } from './config.js';
import { PASSED, violated } from './result.js';
import {
  firstStatement,
  MAX_STATEMENT_LEAVES,
  type StatementLeaf,
  statementStart,
} from './statement-leaves.js';
import { isUnreadStatement } from './unread-statements.js';

/** What is checked in one step. */
export interface SqlTexts {
  /** The query; null when there is none. */
  readonly query: string | null;
  /** Other texts of the data, which are checked where they are statements. */
  readonly leaves: readonly StatementLeaf[];
  readonly context: JsonObject;
}

/** Parses a text. Throws, or rejects with, NotParsed for what is no SQL of the dialect. */
export type Parse = (text: string, signal: () => AbortSignal) => ParsedQuery | Promise<ParsedQuery>;

/** After so many code units, or texts, everything else gets a turn: some 10 ms, or 50 where one hostile text has them. */
const MAX_TURN_LENGTH = 50_000;
const MAX_TURN_TEXTS = 64;
/** Search steps that take as long as parsing one code unit. */
const STEPS_PER_UNIT = 10;

type Outcome = ParsedQuery | NotParsed;
/** A violation, and the text in which it was found. */
interface Finding {
  readonly found: Violation;
  readonly text: string;
}
/** Asks for the outcome of parsing one text after the other, and gives the first violation. */
type Inspection = Generator<string, Finding | null, Outcome>;

const UNPARSED = violation('The query cannot be parsed');

/**
 * Makes the check of a query and of the texts beside it, in their order; the first violation decides. A text beside the
 * query that turns out to be no statement is passed over. Where there is no query, what begins like a statement has to
 * be one, because nothing else tells what the data are for.
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
    for (const { path, text } of leaves) {
      const found = yield* inspectLeaf(text, query === null, context);
      if (found === null) continue;
      return { found: { ...found, message: `${found.message} (in the member ${path})` }, text };
    }
    return null;
  }

  function* inspectLeaf(
    text: string,
    mustParse: boolean,
    context: JsonObject,
  ): Generator<string, Violation | null, Outcome> {
    const outcome = yield text;
    if (!(outcome instanceof NotParsed))
      return isStatement(outcome) ? runChecks(outcome, config, context) : null;
    if (mustParse || outcome instanceof NotCertain || isUnread(text)) return UNPARSED;
    // Some databases run the first statement before they look at the second one.
    const first = firstStatement(text, config.dialect);
    if (first === null) return null;
    const begun = yield first;
    return begun instanceof NotCertain || (!(begun instanceof NotParsed) && isStatement(begun))
      ? UNPARSED
      : null;
  }

  const isUnread = (text: string): boolean =>
    isUnreadStatement(text.slice(Math.max(0, statementStart(text, config.dialect))), config.dialect);

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
      // Nobody waits for the others to end; and texts that are parsed here must not hold up everything else.
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

function conclude(finding: Finding | null, { detail }: CheckCall): EvaluatorResult {
  return finding === null ? PASSED : violated(finding.found, finding.text, detail);
}

/** Whether a parsed text does anything. `BEGIN` and `VALUES (1)` do not, and nothing can be wrong with them. */
function isStatement({ statements }: ParsedQuery): boolean {
  return statements.some(
    ({ operations, tables, hidesTables }) => operations.length > 0 || tables.length > 0 || hidesTables,
  );
}

/** What cannot be parsed is a violation. Any other failure is one of the evaluator. */
function refusal(error: unknown): NotParsed {
  if (error instanceof NotParsed) return error;
  throw error;
}
