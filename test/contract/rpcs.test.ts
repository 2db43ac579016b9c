import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { AuthService } from '../../gen/proto/enforcement/v1/auth_service_pb.js';
import { ControlBindingService } from '../../gen/proto/enforcement/v1/control_binding_service_pb.js';
import { KeyService } from '../../gen/proto/enforcement/v1/key_service_pb.js';
import { NamespaceService } from '../../gen/proto/enforcement/v1/namespace_service_pb.js';
import { Access, AgentScope } from '../../gen/proto/enforcement/v1/options_pb.js';
import { roleNamed } from '../../src/contract/call/scopes.js';
import { type RpcMethod, rpcMethods } from '../../src/serve/descriptors/rpc-methods.js';
import { ADAPTER_SERVICES, SERVICES } from '../support/protocol-clients.js';
import { DECISIONS_FILE } from '../support/rpc-decisions.js';

const IDEMPOTENCY = {
  [MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN]: 'none',
  [MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS]: 'no_side_effects',
  [MethodOptions_IdempotencyLevel.IDEMPOTENT]: 'idempotent',
} as const;

/** One line of the file: everything that a person decides about an RPC. */
function lineOf(method: RpcMethod): string {
  const { desc, access, agentScope, scopes, operation, isEvaluation, successStatus, bindings } = method;
  return [
    `${desc.parent.name}.${desc.name}`,
    desc.methodKind,
    `access=${Access[access].toLowerCase()}`,
    `agents=${AgentScope[agentScope].toLowerCase()}`,
    `scopes=${scopes.join(',')}`,
    `operation=${operation}`,
    `idempotency=${IDEMPOTENCY[desc.idempotency]}`,
    ...(isEvaluation ? ['evaluation'] : []),
    ...bindings.map(({ verb, template }) => `${verb} ${template}`),
    ...(bindings.length === 0 ? [] : [`status=${successStatus}`]),
  ].join(' ');
}

/**
 * Tests of keys and agents take what they expect from this file, so a changed option shows in its diff. Written by
 * `npm run generate`.
 */
it('rpcs.golden.txt has what the options of every RPC say', async () => {
  const lines = [...SERVICES, ...ADAPTER_SERVICES].flatMap(rpcMethods).map(lineOf);
  await expect(`${lines.join('\n')}\n`, 'run "npm run generate" and review the change').toMatchFileSnapshot(
    DECISIONS_FILE,
  );
});

it('no key but that of an admin changes what agents share, and only descriptions are without a key', () => {
  const open = SERVICES.flatMap(rpcMethods).filter(
    ({ desc, access, agentScope }) =>
      access !== Access.ADMIN &&
      agentScope === AgentScope.BEYOND &&
      desc.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
  );
  expect(open.map(({ name }) => name)).toEqual([]);
  // What a caller without a key may call is a decision of its own: deployed clients read the schema without one.
  const withoutKey = SERVICES.flatMap(rpcMethods).filter(({ access }) => access === Access.PUBLIC);
  // The metadata of AuthZEN are public by its standard.
  expect(withoutKey.map(({ name }) => name)).toEqual([
    'enforcement.v1.ControlService/GetControlSchema',
    'enforcement.v1.AuthzenService/GetAuthzenConfiguration',
  ]);
});

it('the roles regular and admin are the levels of access', () => {
  const methods = [...SERVICES, AuthService, ControlBindingService, KeyService, NamespaceService].flatMap(
    rpcMethods,
  );
  const allowed = (role: string) =>
    methods
      .filter(({ scopeMask }) => ((roleNamed(role)?.scopes ?? 0n) & scopeMask) !== 0n)
      .map(({ name }) => name);
  const ofAccess = (...levels: Access[]) =>
    methods.filter(({ access }) => levels.includes(access)).map(({ name }) => name);
  const ofNamespaces = (name: string) => name.startsWith('enforcement.v1.NamespaceService/');
  expect(allowed('regular')).toEqual(ofAccess(Access.KEY, Access.PUBLIC));
  expect(allowed('admin')).toEqual(methods.map(({ name }) => name).filter((name) => !ofNamespaces(name)));
  expect(allowed('operator')).toEqual(methods.map(({ name }) => name));
});
