import type { AgentService as AgentServiceDesc } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { type HandlersOf, handler, sharedHandler, streamHandler } from '../../contract/call/handler.js';
import type { AgentEvaluators } from './agent-evaluators.js';
import { agentSchemas } from './agent-schemas.js';
import type { AgentService } from './agent-service.js';
import type { WatchControls } from './watch-controls.js';

/** The RPCs of AgentService. */
export function agentHandlers(
  agents: AgentService,
  evaluators: AgentEvaluators,
  watchControls: WatchControls,
): HandlersOf<typeof AgentServiceDesc> {
  return {
    listAgents: handler(agentSchemas.listAgents, (input, context) => agents.list(context, input)),
    listAgentLabels: handler(agentSchemas.listAgentLabels, (_input, context) => agents.listLabels(context)),
    initAgent: handler(agentSchemas.initAgent, (input, context) => agents.init(context, input)),
    getAgent: handler(agentSchemas.getAgent, (input, context) => agents.get(context, input.agent_name)),
    updateAgent: handler(agentSchemas.updateAgent, (input, context) => evaluators.remove(context, input)),
    deleteAgent: handler(agentSchemas.deleteAgent, (input, context) =>
      agents.remove(context, input.agent_name, input.if_version),
    ),
    listAgentEvaluators: handler(agentSchemas.listAgentEvaluators, (input, context) =>
      evaluators.list(context, input),
    ),
    getAgentEvaluator: handler(agentSchemas.getAgentEvaluator, (input, context) =>
      evaluators.get(context, input.agent_name, input.evaluator_name),
    ),
    listAgentControls: sharedHandler(agentSchemas.listAgentControls, (input, context) =>
      agents.listControls(context, input),
    ),
    watchControls: streamHandler(agentSchemas.watchControls, watchControls),
    addAgentControl: handler(agentSchemas.addAgentControl, (input, context) =>
      agents.addControl(context, input.agent_name, input.control_id, input.if_version),
    ),
    removeAgentControl: handler(agentSchemas.removeAgentControl, (input, context) =>
      agents.removeControl(context, input.agent_name, input.control_id),
    ),
  };
}
