import type { CallContext } from '../../contract/call/handler.js';
import type { Step } from '../../kernel/core/types.js';
import type { StoredDefinition } from '../agent-state/agent-control-store.js';
import type { AskedStep } from '../decisions/approval-gate.js';
import type { ApprovalRow } from './approval-row.js';

/** Tries steps that wait, with controls as they are stored. Nothing is recorded. Both may reject. */
export interface StepTrials {
  /** JSON text of the explanations of the controls. */
  explanations(asked: AskedStep, rows: readonly StoredDefinition[]): Promise<string>;
  /**
   * The reason why controls deny the step that an approver puts in the place of the one that waits, those that the approval is for
   * left out; null if they do not. An empty reason if the controls give none.
   */
  denialByOthers(context: CallContext, row: ApprovalRow, step: Step): Promise<string | null>;
}
