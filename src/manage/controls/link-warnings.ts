import type { Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { type ControlDefinition, isDraft, type StoredControl } from './definition/definition.js';
import { readStoredDefinition } from './definition-presentation.js';
import { definitionWarnings } from './definition-warnings/definition-warnings.js';

/** Reasons why a control that is linked, or added to a policy, has no effect. */
export interface LinkReview {
  readonly warnings: readonly Warning[];
  /** Its definition; null for a draft, and for an unreadable one. */
  readonly definition: ControlDefinition | null;
}

/** Warnings of a definition that matter when it takes effect; the others were reported when it was written. */
const TOLD_AGAIN = new Set([
  'incomplete_template',
  'unknown_evaluator',
  'unconfigured_evaluator',
  'never_matches',
  'always_matches',
]);

/** Why a control has no effect, or fails, from the moment on at which it is switched on or linked. */
export function effectWarnings(control: StoredControl, registry: EvaluatorRegistry): Warning[] {
  return [...definitionWarnings(control, registry)].filter(({ code }) => TOLD_AGAIN.has(code));
}

/**
 * Reviews a linked control. `clientsThatNeverAsked` describes the agents that get it and whose clients have
 * never requested controls; null when there are none.
 */
export function reviewLink(
  row: StoredDefinition,
  registry: EvaluatorRegistry,
  clientsThatNeverAsked: string | null,
): LinkReview {
  const stored = readStoredDefinition(row.data, registry);
  if (!stored.ok) return { warnings: [], definition: null };
  const control = stored.stored;
  const warnings = effectWarnings(control, registry);
  if (!isDraft(control) && control.execution === 'sdk' && clientsThatNeverAsked !== null) {
    const message =
      `its execution is "sdk", so that clients evaluate it and the service does not, ` +
      `and ${clientsThatNeverAsked} has never asked for its controls`;
    warnings.push({ code: 'client_side', field: 'data.execution', message });
  }
  return {
    warnings: warnings.map((warning) => named(row, warning)),
    definition: isDraft(control) ? null : control,
  };
}

/** A warning with the control that it is about. */
export function named({ id, name }: Pick<StoredDefinition, 'id' | 'name'>, warning: Warning): Warning {
  return { ...warning, message: `control "${name}" (${id}): ${warning.message}` };
}
