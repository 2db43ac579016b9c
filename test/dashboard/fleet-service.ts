import { createClient } from '@connectrpc/connect';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { AppliesTo, ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { adminTransport, startKeyedService } from './dashboard-service.js';

const MINUTE_MS = 60_000;

/** A service with a small fleet: one agent with controls, and three that no control checks. */
export interface FleetService {
  readonly url: string;
  stop(): Promise<void>;
  /** Ids of the controls by name. */
  readonly controlIds: ReadonlyMap<string, number>;
  /** Whether a step of the covered agent is allowed, over gRPC. */
  isAllowed(text: string): Promise<boolean>;
}

export const COVERED = 'covered-bot-01';
export const UNCOVERED = ['uncovered-bot-1', 'uncovered-bot-2', 'disabled-bot-01'] as const;

/** Ages of the stored events in minutes, all far from the boundaries of the hours before now. */
export const EVENT_AGES = {
  denied: [10, 190],
  steered: [190],
  failed: [10],
  lastWeek: [3 * 24 * 60],
} as const;

export async function startFleetService(databaseUrl: string): Promise<FleetService> {
  const { url, stop } = await startKeyedService(databaseUrl);
  const transport = adminTransport(url);
  const agents = createClient(AgentService, transport);
  const controls = createClient(ControlService, transport);
  const policies = createClient(PolicyService, transport);
  const evaluations = createClient(EvaluationService, transport);
  for (const agentName of [COVERED, ...UNCOVERED]) {
    await agents.initAgent({
      agent: { agentName },
      steps: [
        {
          type: 'tool',
          name: 'send_mail',
          inputSchema: {
            type: 'object',
            required: ['text'],
            properties: { text: { type: 'string', description: 'Body of the mail' }, cc: { type: 'array' } },
          },
        },
      ],
    });
  }
  const controlIds = new Map<string, number>();
  for (const [name, pattern, enabled] of [
    ['no-cards', '\\d{16}', true],
    ['no-refunds', 'refund', true],
    ['switched-off', 'never', false],
  ] as const) {
    const { controlId } = await controls.createControl({
      name,
      data: {
        enabled,
        execution: Execution.SERVER,
        condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
        action: { decision: Decision.DENY },
      },
    });
    controlIds.set(name, controlId);
  }
  const idOf = (name: string) => controlIds.get(name) ?? 0;
  const { policyId } = await policies.createPolicy({ name: 'mail-policy' });
  await policies.addPolicyControl({ policyId, controlId: idOf('no-cards') });
  await policies.addAgentPolicy({ agentName: COVERED, policyId });
  await agents.addAgentControl({ agentName: COVERED, controlId: idOf('no-cards') });
  await agents.addAgentControl({ agentName: 'disabled-bot-01', controlId: idOf('switched-off') });
  const event = (ageMinutes: number, action: Decision, errorMessage?: string) => ({
    traceId: `trace-${ageMinutes}`,
    spanId: 'span',
    agentName: COVERED,
    controlId: idOf('no-cards'),
    controlName: 'no-cards',
    checkStage: Stage.PRE,
    appliesTo: AppliesTo.TOOL_CALL,
    action,
    matched: errorMessage === undefined,
    confidence: 1,
    timestamp: new Date(Date.now() - ageMinutes * MINUTE_MS).toISOString(),
    ...(errorMessage === undefined ? {} : { errorMessage }),
  });
  await createClient(ObservabilityService, transport).createEvents({
    events: [
      ...[...EVENT_AGES.denied, ...EVENT_AGES.lastWeek].map((age) => event(age, Decision.DENY)),
      ...EVENT_AGES.steered.map((age) => event(age, Decision.STEER)),
      ...EVENT_AGES.failed.map((age) => event(age, Decision.DENY, 'evaluator timed out')),
    ],
  });
  return {
    url,
    stop,
    controlIds,
    async isAllowed(text) {
      const step = JSON.stringify({ type: 'tool', name: 'send_mail', input: { text } });
      const { isSafe } = await evaluations.evaluate({
        agentName: COVERED,
        stage: Stage.PRE,
        stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
      });
      return isSafe;
    },
  };
}
