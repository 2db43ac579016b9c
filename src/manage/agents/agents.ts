import type { AgentService as AgentServiceDesc } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import type { HandlersOf } from '../../contract/call/handler.js';
import type { StepSchemaReports } from '../../decide/agent-state/step-schema-setting.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { createAgentEvaluators } from './agent-evaluators.js';
import { agentHandlers } from './agent-handlers.js';
import { createAgentService } from './agent-service.js';
import { createAskedForControls } from './asked-for-controls.js';
import type { ControlFeed } from './control-feed.js';
import { createWatchControls } from './watch-controls.js';

export interface AgentsOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Whether members without effect are rejected. */
  readonly strict: boolean;
  readonly feed: ControlFeed;
  readonly stepSchemas: StepSchemaReports;
  /** Largest message of a stream, in bytes. */
  readonly maxReplyBytes: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** Registered agents: their steps, evaluators, links and effective controls. */
export function createAgents(options: AgentsOptions): HandlersOf<typeof AgentServiceDesc> {
  const { database, feed, now, monotonic } = options;
  const asked = createAskedForControls({ database, now });
  return agentHandlers(
    createAgentService({ ...options, asked }),
    createAgentEvaluators(options),
    createWatchControls({ feed, asked, now: monotonic, maxMessageBytes: options.maxReplyBytes }),
  );
}
