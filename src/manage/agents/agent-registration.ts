import type { JsonObject } from '../../../packages/exact-json/src/index.js';

/**
 * The registration of an agent as stored and printed: every declared member present, null when unset. Types
 * instead of interfaces, so that a registration is JSON to the compiler.
 */
export type AgentRegistration = {
  agent: AgentProfile;
  steps: StepDefinition[];
  evaluators: EvaluatorRegistration[];
};

/** Self-description of an agent. Its times are the client's texts, never the service's. */
export type AgentProfile = {
  agent_name: string;
  agent_description: string | null;
  agent_created_at: string | null;
  agent_updated_at: string | null;
  agent_version: string | null;
  agent_metadata: JsonObject | null;
};

/** A step that the agent can take. */
export type StepDefinition = {
  type: string;
  name: string;
  description: string | null;
  input_schema: JsonObject | null;
  output_schema: JsonObject | null;
  metadata: JsonObject | null;
};

/** An evaluator provided by the agent. */
export type EvaluatorRegistration = {
  name: string;
  config_schema: JsonObject;
  description: string | null;
};
