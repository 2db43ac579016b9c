import type { PolicyService as PolicyServiceDesc } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import type { HandlersOf } from '../../contract/call/handler.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { createAgentPolicies } from './agent-policies.js';
import { createPolicyAgents } from './policy-agents.js';
import { policyHandlers } from './policy-handlers.js';
import { createPolicyService } from './policy-service.js';

export interface PoliciesOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Reads the labels of registrations of programs that do not read them. */
  readonly catchUpLabels: () => Promise<void>;
}

/** Policies, their controls, and the agents that they are linked to. */
export function createPolicies(options: PoliciesOptions): HandlersOf<typeof PolicyServiceDesc> {
  return policyHandlers(
    createPolicyService(options),
    createAgentPolicies(options),
    createPolicyAgents(options),
  );
}
