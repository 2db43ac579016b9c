import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTER_NAMES } from '../../src/contract/config/adapter-names.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { methodNamed, PROTOCOLS, SERVICES } from '../support/protocol-clients.js';
import { decisionOf } from '../support/rpc-decisions.js';
import { startService, type TestService } from '../support/service.js';
import { STEPS } from './every-rpc.steps.js';

/** Of an admin, so that nothing is refused but for the agents. */
const LIMITED = {
  name: 'limited',
  key: 'limited-key',
  role: 'admin',
  agents: ['agent-of-nobody-*'],
} as const;
const REFUSAL = 'AUTH_INSUFFICIENT_PRIVILEGES';
const REFUSED_STEP = new RegExp(`${REFUSAL}|This key is limited to certain agents`);
const RPCS = SERVICES.flatMap(({ name, methods }) =>
  methods.filter(({ methodKind }) => methodKind === 'unary').map((method) => `${name}.${method.name}`),
);

let keys: TestKeysFile;
let service: TestService;
beforeAll(async () => {
  keys = createKeysFile([LIMITED]);
  service = await startService({ ...keys.environment, SERVICE_ADAPTERS: ADAPTER_NAMES.join(',') });
});
afterAll(async () => {
  await service.stop();
  keys.remove();
});

/** The service itself, with all that is between a caller and a handler; `auth/agent-scope.test.ts` has the rules. */
describe.each(['REST over h1', 'gRPC (grpc-js)'] as const)('a key for other agents, over %s', (protocol) => {
  it.each(RPCS)('calls %s as decided', async (rpc) => {
    const played = STEPS.filter((one) => one.rpc === rpc);
    const step = played.find(({ expected }) => 'reply' in expected) ?? played[0];
    const client = PROTOCOLS[protocol](service.url);
    const outcome = await client.call(methodNamed(rpc), step?.input ?? {}, LIMITED.key);
    client.close();
    const told = JSON.stringify(outcome);
    const { agents } = decisionOf(rpc);
    if (agents === 'free') expect(told).not.toContain(REFUSAL);
    // What an adapter refuses is a denial in the shape of its protocol, some of which have no place for a code.
    else if (agents === 'by_evaluation' && outcome.ok) expect(told).toMatch(REFUSED_STEP);
    // A batch has a reply whose results are refused.
    else expect(told).toContain(outcome.ok ? 'google.rpc.ErrorInfo' : REFUSAL);
  });
});
