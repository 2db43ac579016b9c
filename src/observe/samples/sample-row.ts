import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { EvaluationRequest } from '../../decide/decisions/revised-verdict.js';
import type { Step } from '../../kernel/core/types.js';
import { storableText } from '../../storage/database/text.js';
import type { Masking } from './masking.js';
import { sealedContent } from './sample-content.js';
import type { SampleRow, SamplingRule } from './sampling-rule.js';

/** A step so many times larger than what is kept is not searched: masking would hardly make it small enough. */
const SEARCHED_SIZES = 4;
const HOUR_MS = 3_600_000;
const MAX_SHOWN_LENGTH = 255;

/** A step that was chosen. */
export interface Chosen {
  readonly rule: SamplingRule;
  readonly request: EvaluationRequest;
  readonly step: Step | Promise<Step | null>;
  /** About, in characters; 0 for one that another thread holds. */
  readonly length: number;
  readonly agentKey: string;
  readonly outcome: string;
  readonly decisionId: string;
  readonly atMs: number;
}

/** The row of a step that was chosen, masked and sealed; null if it is too large. */
export function sampleRow(chosen: Chosen, read: Step, masking: Masking, sealing: Sealing): SampleRow | null {
  const { rule, request, decisionId, agentKey: agentName, outcome, atMs: takenAtMs } = chosen;
  const cut = masking.withoutPaths(read);
  if (sizeOf(cut.value) > rule.maxBytes * SEARCHED_SIZES) return null;
  const { sessionId = null, accepts = null } = request.options ?? {};
  const call = { step: cut.value, sessionId, target: request.target ?? null };
  const { value: kept, count } = masking.masked(call, read);
  const { step } = kept;
  if (sizeOf(step) > rule.maxBytes) return null;
  const of = { namespace: rule.namespace, decisionId };
  const content = sealedContent(sealing, of, { ...kept, accepts });
  return {
    ...of,
    ruleId: rule.id,
    agentName,
    stage: request.stage,
    stepType: storableText(step.type, MAX_SHOWN_LENGTH),
    stepName: storableText(step.name, MAX_SHOWN_LENGTH),
    outcome,
    takenAtMs,
    expiresAtMs: takenAtMs + rule.retentionHours * HOUR_MS,
    maskedValues: cut.count + count,
    content,
  };
}

function sizeOf(step: Step): number {
  return Buffer.byteLength(stringifyJson({ ...step }));
}
