import {
  isObject,
  type JsonObject,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import { OUTCOME_WORDS, type VerdictOutcome } from '../../decide/decisions/evaluation-options.js';
import type { Step } from '../../kernel/core/types.js';
import type { SampleRow } from './sampling-rule.js';

/** A step with what else its verdict depends on. */
export interface SampledStep {
  readonly step: Step;
  readonly sessionId: string | null;
  readonly target: TargetName | null;
  /** Outcomes that the caller accepted; null for the default. */
  readonly accepts: readonly VerdictOutcome[] | null;
}

/** What a content belongs to: it can be opened for the same sample only, and is no text of another kind. */
function placeOf({ namespace, decisionId }: Pick<SampleRow, 'namespace' | 'decisionId'>): string {
  return `step_sample ${namespace} ${decisionId}`;
}

/** The text that is stored. */
export function sealedContent(
  sealing: Sealing,
  of: Pick<SampleRow, 'namespace' | 'decisionId'>,
  { step, sessionId, target, accepts }: SampledStep,
): string {
  const content: JsonObject = {
    step: { ...step },
    session_id: sessionId,
    target: target === null ? null : { ...target },
    accepts: accepts === null ? null : [...accepts],
  };
  return sealing.seal(stringifyJson(content), placeOf(of));
}

/** What was stored; null if it was sealed with another key, or is damaged. */
export function openedContent(
  sealing: Sealing,
  row: Pick<SampleRow, 'namespace' | 'decisionId' | 'content'>,
): SampledStep | null {
  const text = sealing.open(row.content, placeOf(row));
  if (text === null) return null;
  try {
    return contentOf(parseStoredJson(text) as JsonObject);
  } catch {
    return null;
  }
}

function contentOf({ step, session_id, target, accepts }: JsonObject): SampledStep | null {
  if (!isObject(step)) return null;
  const { type, name, input = null, output = null, context = null } = step;
  if (typeof type !== 'string' || typeof name !== 'string') return null;
  return {
    step: { type, name, input, output, context: isObject(context) ? context : null },
    sessionId: typeof session_id === 'string' ? session_id : null,
    target: isObject(target) ? { type: String(target.type), id: String(target.id) } : null,
    accepts: Array.isArray(accepts) ? OUTCOME_WORDS.filter((word) => accepts.includes(word)) : null,
  };
}
