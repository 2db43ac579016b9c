import { Code, createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService, Outcome } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService } from '../support/service.js';

const AGENT = 'uncontrolled-agent';
const STEP = { type: 'llm', name: 'answer', input: 'harmless' };
const REASON = 'the agent has no enabled control, and this service denies the steps of such agents';

async function withService(
  environment: Record<string, string>,
  check: (service: Awaited<ReturnType<typeof startService>>) => Promise<void>,
): Promise<void> {
  const service = await startService(environment);
  try {
    await seeder(restClient(service.url)).agent(AGENT);
    await check(service);
  } finally {
    await service.stop();
  }
}

describe('an agent without enabled controls', () => {
  it('is allowed by default, which the log warns of once', () =>
    withService({}, async ({ url, logLines }) => {
      const call = restClient(url);
      for (let count = 0; count < 3; count += 1) {
        const { body } = await call('POST', '/api/v1/evaluation', {
          agent_name: AGENT,
          stage: 'pre',
          step: STEP,
        });
        expect(body).toMatchObject({ is_safe: true });
      }
      const lines = logLines.filter((line) => line.includes('SERVICE_AGENTS_WITHOUT_CONTROLS=deny'));
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({ level: 40, agent: AGENT }),
      ]);
    }));

  it('is denied over every protocol with SERVICE_AGENTS_WITHOUT_CONTROLS=deny, until a control is linked to it', () =>
    withService({ SERVICE_AGENTS_WITHOUT_CONTROLS: 'deny' }, async ({ url }) => {
      const call = restClient(url);
      const seed = seeder(call);
      const overRest = async () =>
        (await call('POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', step: STEP })).body;
      const overRpc = (protocol: (typeof RPC_PROTOCOLS)[number]) =>
        createClient(EvaluationService, rpcTransport(protocol, url)).evaluate({
          agentName: AGENT,
          stage: Stage.PRE,
          stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(STEP)) },
        });
      const demandDenied = async () => {
        expect(await overRest()).toMatchObject({ is_safe: false, confidence: 0, reason: REASON });
        for (const protocol of RPC_PROTOCOLS) {
          const verdict = await overRpc(protocol);
          expect([protocol, verdict.isSafe, verdict.outcome, verdict.reason]).toEqual([
            protocol,
            false,
            Outcome.DENY,
            REASON,
          ]);
        }
      };
      await demandDenied();
      const control = await seed.control('only-one', denyWord('secret'));
      await seed.link(AGENT, control);
      expect(await overRest()).toMatchObject({ is_safe: true });
      expect(await overRpc('gRPC')).toMatchObject({ isSafe: true, outcome: Outcome.ALLOW });
      await call('PATCH', `/api/v1/controls/${control}`, { enabled: false });
      await demandDenied();
    }));

  it('is still unknown if it is not registered', () =>
    withService({ SERVICE_AGENTS_WITHOUT_CONTROLS: 'deny' }, async ({ url }) => {
      const unknown = createClient(EvaluationService, rpcTransport('gRPC', url)).evaluate({
        agentName: 'not-registered-01',
        stage: Stage.PRE,
        stepForm: { case: 'stepJson', value: new TextEncoder().encode(JSON.stringify(STEP)) },
      });
      await expect(unknown).rejects.toMatchObject({ code: Code.NotFound });
    }));
});
