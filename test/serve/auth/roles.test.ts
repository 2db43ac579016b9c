import { create, type DescMethod, getOption } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http as httpRule } from '../../../gen/proto/google/api/annotations_pb.js';
import { ROLES, scopesOf } from '../../../src/contract/call/scopes.js';
import { restClient } from '../../support/http.js';
import { createKeysFile, type TestKeysFile } from '../../support/keys-file.js';
import { ADAPTER_SERVICES, SERVICES } from '../../support/protocol-clients.js';
import { decisionOf } from '../../support/rpc-decisions.js';
import { startService, type TestService } from '../../support/service.js';
import { suiteTransports } from '../../support/suite-transports.js';

const METHODS = [...SERVICES, ...ADAPTER_SERVICES].flatMap(
  (service): readonly DescMethod[] => service.methods,
);
/** What was decided about a method: as reviewed, not as the service reads it. */
const reviewed = ({ parent, name }: DescMethod) => decisionOf(`${parent.name}.${name}`);
/** A key for each role, and one for each scope alone. */
const SCOPES = [...new Set(ROLES.flatMap(({ scopes }) => scopesOf(scopes)))];
const CALLERS = [
  ...ROLES.map(({ name, scopes }) => ({ name, entry: { role: name }, scopes: scopesOf(scopes) as string[] })),
  ...SCOPES.map((scope) => ({
    name: `${scope} alone`,
    entry: { scopes: [scope] },
    scopes: [scope] as string[],
  })),
];
const keyOf = (name: string) => `key-of-${name.replaceAll(' ', '-')}`;
const REFUSAL = /This call needs [^"]*/;

let file: TestKeysFile;
let service: TestService;
beforeAll(async () => {
  file = createKeysFile([]);
  file.write(
    JSON.stringify({ keys: CALLERS.map(({ name, entry }) => ({ name, key: keyOf(name), ...entry })) }),
  );
  service = await startService(file.environment);
});
afterAll(async () => {
  await service.stop();
  file.remove();
});

const transportTo = suiteTransports();

/** The detail of the refusal of a call without input; empty if it was not refused for its scopes. */
async function refusedOverRest(method: DescMethod, key: string): Promise<string> {
  const { pattern, body } = getOption(method, httpRule);
  const path = (pattern.value as string).replace('{agent_name}', 'nobody-at-all').replace(/\{\w+\}/g, '999');
  const reply = await restClient(service.url)(
    (pattern.case ?? '').toUpperCase(),
    path,
    body === '' ? undefined : {},
    { 'x-api-key': key },
  );
  // Adapters have errors of other forms.
  const sent = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
  return reply.status === 403 ? (REFUSAL.exec(sent)?.[0] ?? '') : '';
}

async function refusedOverGrpc(method: DescMethod, key: string): Promise<string> {
  const transport = transportTo('gRPC', service.url);
  const stop = new AbortController();
  const header = { 'x-api-key': key };
  const message = create(method.input);
  try {
    if (method.methodKind === 'unary') {
      await transport.unary(method as never, undefined, undefined, header, message);
      return '';
    }
    const messages = (async function* () {
      yield message;
    })();
    const reply = await transport.stream(method as never, stop.signal, undefined, header, messages);
    // Its headers have come, or a first message: it was not refused.
    for await (const _ of reply.message) break;
    return '';
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return code === Code.PermissionDenied && REFUSAL.test(rawMessage) ? rawMessage : '';
  } finally {
    stop.abort();
  }
}

const isRole = (caller: string) => ROLES.some(({ name }) => name === caller);
const hasRoute = (method: DescMethod) => getOption(method, httpRule).pattern.case !== undefined;
/** Scopes are compared before it matters how a call has come: each of them alone has one way to each RPC. */
const isCalled = (method: DescMethod, protocol: 'REST' | 'gRPC', caller: string) =>
  protocol === 'REST' ? hasRoute(method) : isRole(caller) || !hasRoute(method);

/** Endless streams answer nothing to an empty message that is right. */
const isEndless = ({ name }: DescMethod) => name === 'WatchEvents';

describe.each(CALLERS)('a key with $name', ({ name, scopes }) => {
  const protocols = {
    REST: refusedOverRest,
    gRPC: refusedOverGrpc,
  };
  it.each(['REST', 'gRPC'] as const)('may call over %s what its scopes allow', async (protocol) => {
    const wrong: string[] = [];
    for (const method of METHODS) {
      if (!isCalled(method, protocol, name)) continue;
      const { access, scopes: taken } = reviewed(method);
      const needed = taken.split(',');
      const isAllowed = access === 'public' || needed.some((scope) => scopes.includes(scope));
      if (isAllowed && isEndless(method)) continue;
      const refusal = await protocols[protocol](method, keyOf(name));
      const isRight = isAllowed ? refusal === '' : needed.every((scope) => refusal.includes(scope));
      if (!isRight) wrong.push(`${method.parent.name}.${method.name}: ${refusal}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('SERVICE_VALIDATION_ACCESS=admin', () => {
  it('takes the right to validate from the role regular only', async () => {
    const other = await startService({
      ...file.environment,
      SERVICE_VALIDATION_ACCESS: 'admin',
      SERVICE_API_KEYS: 'a-key-of-a-variable',
    });
    const statusOf = async (key: string, path: string) =>
      (await restClient(other.url)('POST', `/api/v1${path}`, {}, { 'x-api-key': key })).status;
    for (const path of ['/controls/validate', '/control-templates/render']) {
      expect(await statusOf(keyOf('regular'), path)).toBe(403);
      expect(await statusOf('a-key-of-a-variable', path)).toBe(403);
      for (const role of ['viewer', 'editor', 'admin']) expect(await statusOf(keyOf(role), path)).toBe(422);
    }
    await other.stop();
  });
});
