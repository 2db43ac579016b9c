import { createSchemaValidator } from '../../packages/json-schema/src/index.js';
import { readAgentScopedName } from '../controls/agent-scoped-name.js';
import { type ControlDefinition, leavesOf } from '../controls/definition.js';
import type { DbClient } from '../database/database.js';
import { agentCorrupted, agentNotFound } from './agent-errors.js';
import { evaluatorNotRegistered, invalidConfig, tooManyAgents } from './agent-evaluator-errors.js';
import type { EvaluatorRegistration } from './agent-registration.js';
import { inspectStoredRegistration } from './agent-schemas.js';
import { createAgentStore } from './agent-store.js';
import { configProblem, registeredEvaluators } from './registered-evaluators.js';

/** Most agents whose evaluators a definition may name; more than one is useless, as no agent could run it. */
const MAX_AGENTS = 16;

/**
 * Checks the leaves of a definition that name evaluators of agents, from left to right. Throws for the first
 * invalid one: AGENT_NOT_FOUND, CORRUPTED_DATA, EVALUATOR_NOT_FOUND or INVALID_CONFIG.
 */
export async function checkEvaluatorReferences(
  client: DbClient,
  definition: ControlDefinition,
): Promise<void> {
  const agents = new Map<string, Map<string, EvaluatorRegistration>>();
  const validator = createSchemaValidator();
  for (const { leaf, path } of leavesOf(definition.condition, 'data.condition')) {
    const { name, config } = leaf.evaluator;
    const scoped = readAgentScopedName(name);
    if (scoped === undefined) continue;
    let evaluators = agents.get(scoped.agentName);
    if (evaluators === undefined) {
      if (agents.size >= MAX_AGENTS) throw tooManyAgents(`${path}.evaluator.name`, name, MAX_AGENTS);
      evaluators = await evaluatorsOf(client, scoped.agentName);
      agents.set(scoped.agentName, evaluators);
    }
    const evaluator = evaluators.get(scoped.evaluatorName);
    if (evaluator === undefined) {
      throw evaluatorNotRegistered(scoped.agentName, scoped.evaluatorName, `${path}.evaluator.name`, name);
    }
    const problem = configProblem(evaluator, config, validator);
    if (problem !== undefined) throw invalidConfig(name, `${path}.evaluator.config`, problem);
  }
}

/** The name is compared verbatim: agents are stored in lower case. */
async function evaluatorsOf(
  client: DbClient,
  agentName: string,
): Promise<Map<string, EvaluatorRegistration>> {
  const row = await createAgentStore(client).find(agentName);
  if (row === null) throw agentNotFound(agentName);
  const { registration, items } = inspectStoredRegistration(row.data);
  if (registration === undefined) throw agentCorrupted(agentName, items);
  return registeredEvaluators(registration);
}
