import { createAgentStore } from '../agents/agent-store.js';
import type { CallContext } from '../contract/call/handler.js';
import type { Warning } from '../contract/warnings/warning.js';
import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { Step } from '../core/types.js';
import type { DbClient } from '../database/database.js';
import { scopeOf } from '../database/scoped.js';
import { type TrialOptions, tryStep } from '../explain/trial.js';
import type { ApprovalRow } from './approval-row.js';

export interface StandingDenialOptions {
  readonly client: DbClient;
  readonly trial: TrialOptions;
  readonly onFailure: (error: unknown) => void;
}

/** Warns of a step that an approver puts in the place of the one that waits, if controls deny it that did not ask. */
export type StandingDenials = (context: CallContext, row: ApprovalRow, step: Step) => Promise<Warning[]>;

/** Nothing is recorded: the step is tried with all controls of the agent but those that the approval is for. Never rejects. */
export function createStandingDenials(options: StandingDenialOptions): StandingDenials {
  const { client, trial, onFailure } = options;
  return async (context, row, step) => {
    try {
      const scope = scopeOf(context, client);
      const agent = await createAgentStore(scope).find(row.agentName);
      const { controls } = await createAgentControlStore(scope).stateOf(row.agentName, row.target);
      const asking = new Set(row.controls.map(({ id }) => id));
      const others = (controls ?? []).filter(({ id }) => !asking.has(id));
      const identity = {
        namespace: scope.namespace.name,
        agent: row.agentName,
        sessionId: row.sessionId,
        stepId: row.stepId,
        error: null,
      };
      const common = { mayKnowAll: false, neverAsked: false, ignored: [], agent, identity };
      const { verdict } = await tryStep(others, { ...common, step, stage: 'pre' }, trial);
      if (verdict.outcome !== 'deny') return [];
      const message = `the changed step cannot run, although it is approved: ${verdict.reason ?? 'it is denied'}`;
      return [{ code: 'denied_by_others', field: 'narrowed_input_json', message }];
    } catch (error) {
      // The vote counts all the same.
      onFailure(error);
      return [];
    }
  };
}
