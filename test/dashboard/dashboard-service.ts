import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { AppliesTo, ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { startService, type TestService } from '../support/service.js';

export const ADMIN_KEY = 'admin-key-of-the-dashboard-tests';
export const REGULAR_KEY = 'regular-key-of-the-dashboard-tests';
export const OPERATOR_KEY = 'operator-key-of-the-dashboard-tests';
export const AGENT = 'billing-bot-01';
/** Texts that a page must show as they are. */
export const HOSTILE = {
  markup: '<img src=x onerror="alert(1)">',
  quotes: `"'><script>alert(2)</script>`,
  rightToLeft: 'שלום\u202Ecod.exe',
};

/** A service with data. */
export interface DashboardService {
  readonly url: string;
  stop(): Promise<void>;
  /** Ids of the controls by name. */
  readonly controlIds: ReadonlyMap<string, number>;
  /** Evaluates a step over gRPC. */
  evaluate(text: string): Promise<void>;
  /** Stores events of the agent `flood-bot-01`, whose traces are numbered, a millisecond apart. */
  storeEvents(count: number): Promise<void>;
  /** Switches a control on or off. */
  enable(controlId: number, enabled: boolean): Promise<void>;
}

/** Calls over gRPC with the admin key, or another one. */
export function adminTransport(baseUrl: string, key = ADMIN_KEY): Transport {
  return createGrpcTransport({
    baseUrl,
    interceptors: [
      (next) => (request) => {
        request.header.set('x-api-key', key);
        return next(request);
      },
    ],
  });
}

/**
 * A service with an admin key and a regular one, and without data. It runs in the process of the tests, where it is
 * loaded and compiled for all files: in one of its own, pages take several times as much of the processor.
 */
export function startKeyedService(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  return startService(
    {
      DATABASE_URL: databaseUrl,
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: REGULAR_KEY,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
      ...environment,
    },
    { keepsLines: false },
  );
}

export async function startDashboardService(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<DashboardService> {
  const { url, stop } = await startKeyedService(databaseUrl, environment);
  const transport = adminTransport(url);
  const evaluations = createClient(EvaluationService, transport);
  const controls = createClient(ControlService, transport);
  return {
    url,
    stop,
    controlIds: await createData(transport),
    async evaluate(text) {
      const step = JSON.stringify({ type: 'tool', name: HOSTILE.markup, input: { text } });
      await evaluations.evaluate({
        agentName: AGENT,
        stage: Stage.PRE,
        stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
      });
    },
    async storeEvents(count) {
      const start = Date.now() - count;
      await createClient(ObservabilityService, transport).createEvents({
        events: Array.from({ length: count }, (_, index) => ({
          traceId: `flood-${index}`,
          spanId: 'span',
          agentName: 'flood-bot-01',
          controlId: 1,
          controlName: 'flood',
          checkStage: Stage.PRE,
          appliesTo: AppliesTo.TOOL_CALL,
          action: Decision.DENY,
          matched: true,
          confidence: 1,
          timestamp: new Date(start + index).toISOString(),
        })),
      });
    },
    async enable(controlId, enabled) {
      await controls.updateControl({ controlId, enabled });
    },
  };
}

async function createData(transport: Transport): Promise<ReadonlyMap<string, number>> {
  const agents = createClient(AgentService, transport);
  const controls = createClient(ControlService, transport);
  const policies = createClient(PolicyService, transport);
  await agents.initAgent({
    agent: { agentName: AGENT, agentDescription: `Sends mail ${HOSTILE.markup}` },
    steps: [{ type: 'tool', name: HOSTILE.markup, description: HOSTILE.quotes }],
  });
  const ids = new Map<string, number>();
  const create = async (name: string, decision: Decision, pattern: string): Promise<number> => {
    const { controlId } = await controls.createControl({
      name,
      data: {
        description: HOSTILE.rightToLeft,
        execution: Execution.SERVER,
        condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
        action: { decision },
        tags: [HOSTILE.quotes],
      },
    });
    ids.set(name, controlId);
    return controlId;
  };
  const direct = await create('no-card-numbers', Decision.DENY, '\\b\\d{16}\\b');
  const shared = await create('watch-refunds', Decision.OBSERVE, 'refund');
  await agents.addAgentControl({ agentName: AGENT, controlId: direct });
  const { policyId } = await policies.createPolicy({ name: 'mail-policy' });
  await policies.addPolicyControl({ policyId, controlId: shared });
  await policies.addAgentPolicy({ agentName: AGENT, policyId });
  await createClient(ObservabilityService, transport).createEvents({
    events: [
      {
        traceId: HOSTILE.quotes,
        spanId: 'span',
        agentName: AGENT,
        controlId: direct,
        controlName: HOSTILE.markup,
        checkStage: Stage.PRE,
        appliesTo: AppliesTo.TOOL_CALL,
        action: Decision.DENY,
        matched: true,
        confidence: 1,
        stepName: HOSTILE.rightToLeft,
      },
    ],
  });
  return ids;
}
