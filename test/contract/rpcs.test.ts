import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { Access, AgentScope, scopes } from '../../gen/proto/enforcement/v1/options_pb.js';
import { optionOf } from '../../src/contract/proto-option.js';
import { type RpcMethod, rpcMethods } from '../../src/transport/descriptors/rpc-methods.js';
import { SERVICES } from '../support/protocol-clients.js';
import { DECISIONS_FILE } from '../support/rpc-decisions.js';

const IDEMPOTENCY = {
  [MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN]: 'none',
  [MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS]: 'no_side_effects',
  [MethodOptions_IdempotencyLevel.IDEMPOTENT]: 'idempotent',
} as const;

/** One line of the file: everything that a person decides about an RPC. */
function lineOf(method: RpcMethod): string {
  const { desc, access, agentScope, isEvaluation, successStatus, bindings } = method;
  return [
    `${desc.parent.name}.${desc.name}`,
    desc.methodKind,
    `access=${Access[access].toLowerCase()}`,
    `agents=${AgentScope[agentScope].toLowerCase()}`,
    `scopes=${optionOf(desc, scopes).join(',')}`,
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
  const lines = SERVICES.flatMap(rpcMethods).map(lineOf);
  await expect(`${lines.join('\n')}\n`, 'run "npm run generate" and review the change').toMatchFileSnapshot(
    DECISIONS_FILE,
  );
});

it('no key but that of an admin changes what agents share, and no RPC is without a key', () => {
  const open = SERVICES.flatMap(rpcMethods).filter(
    ({ desc, access, agentScope }) =>
      access !== Access.ADMIN &&
      agentScope === AgentScope.BEYOND &&
      desc.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
  );
  expect(open.map(({ name }) => name)).toEqual([]);
  // What a caller without a key may call is a decision of its own: there is none as yet.
  expect(SERVICES.flatMap(rpcMethods).filter(({ access }) => access === Access.PUBLIC)).toEqual([]);
});
