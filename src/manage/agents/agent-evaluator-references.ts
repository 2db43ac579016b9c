import { createSchemaValidator } from '../../../packages/json-schema/src/index.js';
import { type AgentLimit, demandAgent } from '../../contract/call/agent-limit.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { agentCorrupted, agentNotFound } from '../../decide/agent-state/agent-errors.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { readAgentScopedName } from '../controls/definition/agent-scoped-name.js';
import type { Leaf } from '../controls/definition/definition.js';
import type { ReferenceProblem } from '../controls/reference-problems.js';
import { evaluatorNotRegistered, invalidConfig, tooManyAgents } from './agent-evaluator-errors.js';
import type { EvaluatorRegistration } from './agent-registration.js';
import { inspectStoredRegistration } from './agent-schemas.js';
import { createAgentStore } from './agent-store.js';
import { configProblem, registeredEvaluators } from './registered-evaluators.js';

/** Most agents whose evaluators a definition may name; more than one is useless, as no agent could run it. */
const MAX_AGENTS = 16;

/** The evaluators of an agent, or why they are not known. */
type Found = ReadonlyMap<string, EvaluatorRegistration> | ServiceError;

/**
 * The problems of leaves that name evaluators of agents of the namespace, from left to right: AGENT_NOT_FOUND, CORRUPTED_DATA,
 * EVALUATOR_NOT_FOUND or INVALID_CONFIG. Throws AUTH_INSUFFICIENT_PRIVILEGES for an agent beyond `limit`, whether it
 * exists or not.
 */
export async function evaluatorReferenceProblems(
  scope: Scoped,
  leaves: Iterable<{ readonly leaf: Leaf; readonly path: string }>,
  limit: AgentLimit | null,
): Promise<ReferenceProblem[]> {
  const agents = new Map<string, Found>();
  const validator = createSchemaValidator();
  const problems: ReferenceProblem[] = [];
  for (const { leaf, path } of leaves) {
    const { name, config } = leaf.evaluator;
    const scoped = readAgentScopedName(name);
    if (scoped === undefined) continue;
    demandAgent(limit, scoped.agentName);
    const field = `${path}.evaluator.name`;
    if (!agents.has(scoped.agentName) && agents.size >= MAX_AGENTS) {
      problems.push(withOwnItem(tooManyAgents(field, name, MAX_AGENTS)));
      break;
    }
    const found = agents.get(scoped.agentName) ?? (await evaluatorsOf(scope, scoped.agentName));
    agents.set(scoped.agentName, found);
    if (found instanceof ServiceError) {
      const code = found.code.toLowerCase();
      const message = `agent "${scoped.agentName}" is not registered, or its registration cannot be read`;
      problems.push({ error: found, item: { resource: 'Control', field, code, message, value: name } });
      continue;
    }
    const evaluator = found.get(scoped.evaluatorName);
    if (evaluator === undefined) {
      problems.push(withOwnItem(evaluatorNotRegistered(scoped.agentName, scoped.evaluatorName, field, name)));
      continue;
    }
    const problem = configProblem(evaluator, config, validator);
    if (problem !== undefined) {
      problems.push(withOwnItem(invalidConfig(name, `${path}.evaluator.config`, problem)));
    }
  }
  return problems;
}

function withOwnItem(error: ServiceError): ReferenceProblem {
  return { error, item: error.options.items?.[0] as ErrorItem };
}

/** The name is compared verbatim: agents are stored in lower case. */
async function evaluatorsOf(scope: Scoped, agentName: string): Promise<Found> {
  const row = await createAgentStore(scope).find(agentName);
  if (row === null) return agentNotFound(agentName);
  const { registration, items } = inspectStoredRegistration(row.data);
  return registration === undefined ? agentCorrupted(agentName, items) : registeredEvaluators(registration);
}
