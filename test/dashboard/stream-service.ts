import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { AppliesTo, ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { compileService, type ServiceProcess, spawnService } from '../support/service-process.js';

export const STREAM_KEY = 'admin-key-of-the-stream-tests';
export const CONTROL = 'no-card-numbers';

/** A service whose sessions and address outlive it: it can be killed and started again. */
export interface StreamService {
  readonly url: string;
  /** Agents that the control is linked to. */
  readonly agents: readonly string[];
  readonly controlId: number;
  /** Stores an event with this trace id for each agent. */
  store(...traceIds: string[]): Promise<void>;
  enable(enabled: boolean): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again, at the same address with the same database. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

export async function startStreamService(databaseUrl: string): Promise<StreamService> {
  const compiled = await compileService();
  const spawn = (port: string) =>
    spawnService(compiled, {
      environment: {
        DATABASE_URL: databaseUrl,
        SERVICE_PORT: port,
        SERVICE_API_KEY_ENABLED: 'true',
        SERVICE_ADMIN_API_KEYS: STREAM_KEY,
        SERVICE_SESSION_SECRET: 'a secret of sessions for the tests of streams',
      },
    });
  let service: ServiceProcess = await spawn('0');
  const url = await service.listening();
  const transport = createGrpcTransport({
    baseUrl: url,
    interceptors: [
      (next) => (request) => {
        request.header.set('x-api-key', STREAM_KEY);
        return next(request);
      },
    ],
  });
  const agents = createClient(AgentService, transport);
  const controls = createClient(ControlService, transport);
  const observability = createClient(ObservabilityService, transport);
  const { controlId } = await controls.createControl({
    name: CONTROL,
    data: {
      execution: Execution.SERVER,
      condition: {
        selector: { path: 'input' },
        evaluator: { name: 'regex', config: { pattern: '\\d{16}' } },
      },
      action: { decision: Decision.DENY },
    },
  });
  const names = Array.from({ length: 5 }, (_, index) => `stream-agent-${index}`);
  for (const agentName of names) {
    await agents.initAgent({ agent: { agentName }, steps: [] });
    await agents.addAgentControl({ agentName, controlId });
  }
  return {
    url,
    agents: names,
    controlId,
    async store(...traceIds) {
      await observability.createEvents({
        events: traceIds.flatMap((traceId) =>
          names.map((agentName) => ({
            traceId,
            spanId: 'span',
            agentName,
            controlId,
            controlName: CONTROL,
            checkStage: Stage.PRE,
            appliesTo: AppliesTo.TOOL_CALL,
            action: Decision.DENY,
            matched: true,
            confidence: 1,
          })),
        ),
      });
    },
    async enable(enabled) {
      await controls.updateControl({ controlId, enabled });
    },
    async kill() {
      await service.dispose();
    },
    async restart() {
      service = await spawn(new URL(url).port);
      await service.listening();
    },
    dispose: () => service.dispose(),
  };
}
