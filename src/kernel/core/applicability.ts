import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { readDefinition } from './definition-view.js';
import type { PreparedControl } from './prepared-control.js';
import type { CompiledScope } from './scope.js';
import { strictMember } from './strict-reader.js';
import type { Decision, Stage, Step } from './types.js';

/** Whether a control applies to a step; if not, the first condition of the contract that it fails. */
export type Applicability =
  | 'applies'
  | 'disabled'
  | 'not_server_side'
  | 'stage'
  | 'step_type'
  | 'step_name'
  /** The step name pattern is unusable, so this is unknown. */
  | 'scope_failure'
  | 'damaged';

/** Applicability of a control, including controls that take no part in evaluation. */
export interface ApplicabilityReading {
  readonly reason: Applicability;
  /** Null when it cannot be read. */
  readonly decision: Decision | null;
  /** What is wrong with the control, for the operator. */
  readonly problem: string | null;
}

/**
 * Applicability of a single control, as a program determines it for all of its controls. `prepared` is the
 * prepared form of the definition.
 */
export function applicabilityOf(
  definition: JsonValue,
  prepared: PreparedControl,
  step: Pick<Step, 'type' | 'name'>,
  stage: Stage,
): ApplicabilityReading {
  const reading = readDefinition(definition);
  const { decision } = reading.intact ? reading.view : reading.damaged;
  if (!prepared.active) {
    const enabled = isObject(definition) ? strictMember(definition, 'enabled') : undefined;
    return { reason: enabled === false ? 'disabled' : 'not_server_side', decision, problem: null };
  }
  const { scope, problems } = prepared;
  const inScope = scopeReason(scope, step, stage);
  if (inScope !== 'applies') return { decision, ...inScope };
  if (prepared.condition === null) return { reason: 'damaged', decision, problem: problems[0] ?? null };
  return { reason: 'applies', decision, problem: null };
}

function scopeReason(
  scope: CompiledScope,
  step: Pick<Step, 'type' | 'name'>,
  stage: Stage,
): 'applies' | Omit<ApplicabilityReading, 'decision'> {
  const { stages, stepTypes, stepNames, searchName } = scope;
  if (stages !== null && !stages.has(stage)) return { reason: 'stage', problem: null };
  if (stepTypes !== null && !stepTypes.has(step.type)) return { reason: 'step_type', problem: null };
  if (stepNames === null && searchName === null) return 'applies';
  if (stepNames?.has(step.name) === true) return 'applies';
  const found = searchName?.(step.name) ?? false;
  if (typeof found === 'object') return { reason: 'scope_failure', problem: found.problem ?? scope.problem };
  return found ? 'applies' : { reason: 'step_name', problem: null };
}
