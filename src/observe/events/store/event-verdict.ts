import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ApprovalState } from '../../../decide/decisions/approval-gate.js';
import type { VerdictOutcome } from '../../../decide/decisions/evaluation-options.js';
import type { RevisedVerdict } from '../../../decide/decisions/revised-verdict.js';
import type { ControlEvent } from './event.js';

/**
 * What came of a step that only controls with an approval or a change deny: their events say that they matched, and only this
 * says that the step waits, ran after all, or ran changed.
 */
export interface EventVerdict {
  readonly outcome: VerdictOutcome;
  /** As it was when the step was evaluated. */
  readonly approval: { readonly id: number; readonly state: ApprovalState } | null;
}

/** The member of the metadata of an event that has it. Only the service sets it. */
const MEMBER = 'verdict';

/** Null for a verdict that its matches and errors explain. */
export function eventVerdictOf({ outcome, approval }: RevisedVerdict): EventVerdict | null {
  if (approval === undefined && outcome !== 'ask' && outcome !== 'modify') return null;
  return { outcome, approval: approval === undefined ? null : { id: approval.id, state: approval.state } };
}

export function verdictMetadata({ outcome, approval }: EventVerdict): JsonObject {
  return { [MEMBER]: { outcome, ...(approval === null ? {} : { approval }) } };
}

/** Metadata of a client, as they are added to an event of the service. */
export function clientsMetadata({ [MEMBER]: _, ...metadata }: JsonObject): JsonObject {
  return metadata;
}

/** What the service stored by `verdictMetadata`; nothing that a client says of its own events. */
export function storedVerdict({ origin, metadata }: ControlEvent): EventVerdict | null {
  const verdict = metadata[MEMBER] as Partial<EventVerdict> | undefined;
  if (origin === 'client' || verdict?.outcome === undefined) return null;
  return { outcome: verdict.outcome, approval: verdict.approval ?? null };
}
