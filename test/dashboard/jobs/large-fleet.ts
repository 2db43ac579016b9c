import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { PolicyService } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { createKeysFile } from '../../support/keys-file.js';
import { startService } from '../../support/service.js';
import { ADMIN_KEY } from '../dashboard-service.js';

const SECOND_ADMIN_KEY = 'key-of-bob-of-the-dashboard-tests';
export const LIMITED_KEY = 'limited-key-of-the-dashboard-tests';
/** The agent of the limited key. */
export const LIMITED_AGENT = 'support-bot-01';
const AGENTS = 60;
export const FINANCE_AGENTS = 20;
const CONTROLS = 120;
/** Controls that no agent has. */
export const UNUSED_CONTROLS = 70;

/** A service with many controls and agents, and keys of several people. Each start ends all sessions. */
export interface LargeFleet {
  readonly url: string;
  /** Id of the control that denies. */
  readonly denying: number;
  /** Has a step of the limited key's agent denied. */
  deny(): Promise<void>;
  /** Ends it at once, with its connections. */
  fail(): Promise<void>;
  /** Starts it again, at the same address with the same database. */
  startAgain(): Promise<void>;
  stop(): Promise<void>;
}

export async function startLargeFleet(databaseUrl: string): Promise<LargeFleet> {
  const keys = createKeysFile([
    { name: 'alice (platform)', key: ADMIN_KEY, role: 'admin' },
    { name: 'bob (risk)', key: SECOND_ADMIN_KEY, role: 'admin' },
    { name: 'support-desk', key: LIMITED_KEY, role: 'regular', agents: [LIMITED_AGENT] },
  ]);
  const startAt = (port: string) =>
    startService({
      ...keys.environment,
      DATABASE_URL: databaseUrl,
      SERVICE_PORT: port,
      // It ends at once, with all that runs.
      SERVICE_DRAIN_SECONDS: '0',
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
    });
  let service = await startAt('0');
  const { url } = service;
  const transport = transportOf(url, ADMIN_KEY);
  const denying = await createFleet(transport, transportOf(url, SECOND_ADMIN_KEY));
  return {
    url,
    denying,
    async deny() {
      const step = { type: 'tool', name: 'send_mail', input: { text: 'card 4111111111111111' } };
      await createClient(EvaluationService, transport).evaluate({
        agentName: LIMITED_AGENT,
        stage: Stage.PRE,
        stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(step)) },
      });
    },
    fail: () => service.stop(),
    async startAgain() {
      service = await startAt(new URL(url).port);
    },
    async stop() {
      await service.stop();
      keys.remove();
    },
  };
}

function transportOf(baseUrl: string, key: string): Transport {
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

const numbered = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name}-${String(index + 1).padStart(3, '0')}`);

/** Creates everything as one person; another one gives a policy to three agents. Returns the control that denies. */
async function createFleet(transport: Transport, other: Transport): Promise<number> {
  const agents = createClient(AgentService, transport);
  const controls = createClient(ControlService, transport);
  const policies = createClient(PolicyService, transport);
  const names = [LIMITED_AGENT, ...numbered(AGENTS - 1, 'fleet-bot')];
  await Promise.all(
    names.map((agentName, index) => {
      const team = index < FINANCE_AGENTS ? 'finance' : 'support';
      return agents.initAgent({ agent: { agentName, agentMetadata: { team } }, steps: [] });
    }),
  );
  const create = async (name: string, decision: Decision) => {
    const evaluator = { name: 'regex', config: { pattern: '\\d{16}' } };
    const { controlId } = await controls.createControl({
      name,
      data: {
        execution: Execution.SERVER,
        condition: { selector: { path: 'input.text' }, evaluator },
        action: { decision },
      },
    });
    return controlId;
  };
  const denying = await create('no-card-numbers', Decision.DENY);
  await agents.addAgentControl({ agentName: LIMITED_AGENT, controlId: denying });
  const { policyId } = await policies.createPolicy({ name: 'payments' });
  await Promise.all([
    ...numbered(CONTROLS - UNUSED_CONTROLS - 1, 'used').map(async (name) => {
      await policies.addPolicyControl({ policyId, controlId: await create(name, Decision.OBSERVE) });
    }),
    ...numbered(UNUSED_CONTROLS, 'spare').map((name) => create(name, Decision.OBSERVE)),
  ]);
  await createClient(PolicyService, other).addPolicyAgents({ policyId, agentNames: names.slice(-3) });
  await policies.createPolicy({ name: 'finance-policy' });
  return denying;
}
