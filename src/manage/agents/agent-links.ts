import type { CallContext } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { IfVersion } from '../../contract/input/if-version.js';
import { readAgentName } from '../../contract/input/names.js';
import { demandWholeTarget, targetNamed } from '../../contract/input/target.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import { agentNotFound } from '../../decide/agent-state/agent-errors.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { appliedLinkWarnings } from '../controls/applied-warnings.js';
import { existingControl } from '../controls/existing-control.js';
import { hiddenLinkWarnings } from '../controls/hidden-controls.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandControlOfOwnAgents } from '../controls/shared-with-caller.js';
import { agentFact, controlLink } from './agent-audit.js';
import { linkedControls, printed } from './agent-controls.js';
import { agentLinkWarnings } from './agent-link-warnings.js';
import { type AgentInputs, readStoredRegistration } from './agent-schemas.js';
import type { AskedForControls } from './asked-for-controls.js';
import { compatibilityProblems, policyControlIncompatible, readCandidates } from './control-compatibility.js';
import type { ControlFeed } from './control-feed.js';
import { demandedAgent, existingAgent } from './existing-agent.js';
import { listedPage, pageKey } from './listed-page.js';
import type { ListedControl } from './watched-controls.js';

export interface AgentLinksOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  readonly asked: AskedForControls;
  readonly feed: Pick<ControlFeed, 'at'>;
}

/** Lists the controls of agents, and links controls to them. */
export function createAgentLinks({ database, mutate, registry, asked, feed }: AgentLinksOptions) {
  return {
    /**
     * The controls of an agent, by id descending, or one page of them. Throws a VALIDATION_ERROR for half a target,
     * CORRUPTED_DATA when one of them is unreadable, or PAYLOAD_TOO_LARGE when one exceeds the size of a page.
     */
    async listControls(context: CallContext, input: AgentInputs['listAgentControls']) {
      demandWholeTarget(input);
      const agentName = readAgentName(input.agent_name, 'agent_name');
      const scope = scopeOf(context, database.client);
      const { revision, hasAgent } = await createAgentControlStore(scope).revisionFor(agentName);
      if (!hasAgent) throw agentNotFound(agentName);
      const agentKey = scope.namespace.agentKey(agentName);
      const target = targetNamed(input);
      const targetKey = target === null ? null : scope.namespace.targetKey(target);
      const agent = await feed.at(agentKey, revision, targetKey);
      const reply =
        agent === null
          ? listedPage(await controlsFromDatabase(scope, agentName, target), input)
          : agent.reply(pageKey(input), () => listedPage(agent.listed(), input));
      // Used by clients that evaluate controls themselves; user interfaces list all of them.
      if (input.enabled_state === 'enabled') asked.note(agentKey);
      return reply;
    },

    /**
     * Links a control. Throws AGENT_NOT_FOUND, VERSION_MISMATCH, CONTROL_NOT_FOUND or
     * POLICY_CONTROL_INCOMPATIBLE.
     */
    async addControl(context: CallContext, agentName: string, controlId: number, ifVersion: IfVersion) {
      const linked = await mutate(context, async (scope) => {
        await demandControlOfOwnAgents(scope, context.principal.agents, controlId);
        const agent = await demandedAgent(scope, agentName, ifVersion);
        const control = await existingControl(scope, controlId);
        // An existing link is checked again, so repeating the call shows whether the agent can still run it.
        const registration = readStoredRegistration(agent.data);
        const problems = compatibilityProblems(registration, agent.name, readCandidates([control], registry));
        if (problems.length > 0) throw policyControlIncompatible(problems);
        const added = await createAgentControlStore(scope).add(agent.id, control.id);
        const value = { agent, control, applied: [] as Warning[] };
        if (!added) return { value, change: null };
        value.applied = await appliedLinkWarnings(scope, 'agent_name', [agent.name]);
        const audit = agentFact('agent.add_control', agent.name, null, controlLink(control));
        return { value, change: { agents: [agent.key] }, audit };
      });
      // The warning names a control that a key for some agents may not see.
      const hidden =
        context.principal.agents === null
          ? await hiddenLinkWarnings(scopeOf(context, database.client), linked.control, registry)
          : [];
      const own = agentLinkWarnings(linked.agent, [linked.control], registry);
      return { success: true, warnings: listed(own, hidden, linked.applied) };
    },

    /** Removes a direct link; policies may keep the control. Throws AGENT_NOT_FOUND or CONTROL_NOT_FOUND. */
    async removeControl(context: CallContext, agentName: string, controlId: number) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        await demandControlOfOwnAgents(scope, context.principal.agents, controlId);
        const agent = await existingAgent(scope, agentName);
        const control = await existingControl(scope, controlId);
        const removed = await createAgentControlStore(scope).remove(agent.id, control.id);
        const stillActive = await createPolicyControlStore(scope).bringsTo(agent.id, control.id);
        const reply = {
          success: true,
          removed_direct_association: removed,
          control_still_active: stillActive,
        };
        if (!removed) return { value: { reply, warnings: [] }, change: null };
        const audit = agentFact('agent.remove_control', agent.name, controlLink(control), null);
        const value = { reply, warnings: await appliedLinkWarnings(scope, 'agent_name', [agent.name]) };
        return { value, change: { agents: [agent.key] }, audit };
      });
      context.warn(warnings);
      return reply;
    },
  };

  async function controlsFromDatabase(
    scope: Scoped,
    agentName: string,
    target: TargetName | null,
  ): Promise<ListedControl[]> {
    const row = await existingAgent(scope, agentName);
    const linked = await linkedControls(scope, row.id, registry, target);
    return linked.map((control) => ({ view: printed(control), rendered: control.rendered }));
  }
}
