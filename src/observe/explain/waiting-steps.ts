import { type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import type { StepTrials } from '../../decide/approvals/step-trials.js';
import { createAgentStore } from '../../manage/agents/agent-store.js';
import type { DbClient } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { type TrialOptions, tryStep } from './trial.js';

/** What approvers are told of a step that waits: a trial of it with stored controls. */
export function createWaitingStepTrials(client: DbClient, trial: TrialOptions): StepTrials {
  const common = { stage: 'pre', mayKnowAll: false, neverAsked: false, ignored: [] } as const;
  return {
    async explanations({ agentName, sessionId, stepId, step, caller }, rows) {
      const { namespace } = caller;
      const agent = await createAgentStore({ client, namespace }).find(agentName);
      const identity = { namespace: namespace.name, agent: agentName, sessionId, stepId, error: null };
      const { controls } = await tryStep(rows, { ...common, step, agent, identity }, trial);
      return stringifyJson([...controls] as unknown as JsonValue);
    },

    async denialByOthers(context, { agentName, target, sessionId, stepId, controls: asking }, step) {
      const scope = scopeOf(context, client);
      const agent = await createAgentStore(scope).find(agentName);
      const { controls } = await createAgentControlStore(scope).stateOf(agentName, target);
      const ids = new Set(asking.map(({ id }) => id));
      const others = (controls ?? []).filter(({ id }) => !ids.has(id));
      const identity = { namespace: scope.namespace.name, agent: agentName, sessionId, stepId, error: null };
      const { verdict } = await tryStep(others, { ...common, step, agent, identity }, trial);
      return verdict.outcome === 'deny' ? (verdict.reason ?? '') : null;
    },
  };
}
