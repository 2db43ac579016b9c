import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { shorten } from '../../../packages/linear-text/src/index.js';
import { type DataPreview, previewOf, safeText } from '../../contract/secrets/data-preview.js';
import { DataTexts } from '../../kernel/core/data-texts.js';
import type { CheckCall, TracedValue } from '../../kernel/core/evaluator.js';
import { failureText } from '../../kernel/core/failure.js';
import type { PreparedNode } from '../../kernel/core/prepared-control.js';
import { compileSelector } from '../../kernel/core/selector.js';
import type { AgentFacts, EvaluatorResult, Stage, Step } from '../../kernel/core/types.js';
import { tellProblem } from './explain-sentences.js';

type PreparedLeaf = Extract<PreparedNode, { kind: 'leaf' }>;

/** The value of a part of an expression. Members are those of the message. */
export type ExpressionValue = {
  start: number;
  end: number;
  text: string;
  evaluated: boolean;
  value: DataPreview | null;
  error: string | null;
};

/** Something that a detector found. Members are those of the message. */
export type FindingDetail = {
  kind: string;
  path: string;
  in_name: boolean;
  start: number;
  end: number;
  score: number;
};

/** Most values of parts of expressions in one reply: some 2 MB. */
const MAX_VALUES = 5_000;
/** Most findings of one leaf. */
const MAX_FINDINGS = 100;
/** Longest text of a part of an expression, and longest kind or path of a finding, in characters. */
const MAX_TEXT_LENGTH = 200;

/** What the details of leaves are made from. */
export interface DetailFacts {
  readonly step: Step;
  readonly stage: Stage;
  readonly agent: AgentFacts | null;
  /** The time of the evaluation, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Whether the caller receives actual causes of failures. */
  readonly mayKnowAll: boolean;
}

/** The values of the parts of expressions in the evaluation of a step: up to a number for all leaves. */
export function createExpressionValues(
  facts: DetailFacts,
): (leaf: PreparedLeaf) => readonly ExpressionValue[] {
  const { step, stage, agent, nowMs, mayKnowAll } = facts;
  let left = MAX_VALUES;

  function shownPart({ start, end, text, value, error }: TracedValue): ExpressionValue {
    const cause = error === null || mayKnowAll ? error : failureText('');
    return {
      start,
      end,
      text: shorten(text, MAX_TEXT_LENGTH),
      evaluated: value !== undefined || error !== null,
      value: value === undefined ? null : previewOfPart(value, text),
      error: cause === null ? null : tellProblem(cause),
    };
  }
  return ({ path, negated, part }) => {
    const { trace } = part.compiled;
    if (trace === undefined || left <= 0) return [];
    const call: CheckCall = {
      place: { path, negated },
      detail: 'full',
      step,
      stage,
      agent,
      nowMs: () => nowMs,
      signal: new AbortController().signal,
      textsOf: (data) => new DataTexts(data),
    };
    const values = trace(compileSelector(path)(step), call).slice(0, left).map(shownPart);
    left -= values.length;
    return values;
  };
}

/** Masked like data at a path with all names in the text; a boolean, of which nothing can be read, is shown. */
function previewOfPart(value: JsonValue, text: string): DataPreview {
  if (typeof value === 'boolean') return previewOf(value, '');
  return previewOf(value, (text.match(/[\w-]+/g) ?? []).join('.'));
}

/** The findings in the result of a detector; none of any other evaluator, whatever its metadata are. */
export function findingsOf(result: EvaluatorResult | null): readonly FindingDetail[] {
  const findings = result?.metadata?.findings;
  if (!Array.isArray(findings)) return [];
  return findings.slice(0, MAX_FINDINGS).flatMap((found) => (isObject(found) ? findingOf(found) : []));
}

function findingOf({ kind, path, in_name, start, end, score }: JsonObject): FindingDetail[] {
  if (typeof kind !== 'string' || typeof path !== 'string' || typeof in_name !== 'boolean') return [];
  if (!isPosition(start) || !isPosition(end) || typeof score !== 'number') return [];
  const [shownKind, shownPath] = [kind, path].map((text) => safeText(text, MAX_TEXT_LENGTH));
  return [{ kind: shownKind ?? '', path: shownPath ?? '', in_name, start, end, score }];
}

/** The message has 32 bits. */
function isPosition(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31;
}
