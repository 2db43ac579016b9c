import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVICES } from '../support/protocol-clients.js';
import { decisionOf } from '../support/rpc-decisions.js';
import { describeEveryRpc, STREAM } from './every-rpc.plays.js';
import { STEPS } from './every-rpc.steps.js';

const RPCS = SERVICES.flatMap((service) =>
  service.methods.map(({ name, methodKind }) => ({ rpc: `${service.name}.${name}`, name, methodKind })),
);

describe('the script', () => {
  it('calls every RPC of the API, each with what it is for and with an error', () => {
    const called = (wanted: 'reply' | 'reason') =>
      new Set(STEPS.filter(({ expected }) => wanted in expected).map(({ rpc }) => rpc));
    const unary = RPCS.filter(({ methodKind }) => methodKind === 'unary').map(({ rpc }) => rpc);
    expect([...called('reply')].sort()).toEqual(unary.sort());
    // A public one without members cannot fail.
    const failing = unary.filter((rpc) => decisionOf(rpc).access !== 'public');
    expect([...called('reason')].sort()).toEqual(failing);
  });

  it('covers every stream of the API, each of the others in a file that is named like it', () => {
    const streams = RPCS.filter(({ rpc, methodKind }) => methodKind !== 'unary' && rpc !== STREAM);
    const without = streams.filter(({ name }) => {
      const file = `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.test.ts`;
      return !existsSync(path.join(import.meta.dirname, file));
    });
    expect(without).toEqual([]);
    expect(streams.length).toBeGreaterThan(5);
  });
});

/**
 * Each form that messages have on the wire, for all steps. What an RPC does and replies depends neither on the version of
 * HTTP nor on the library of the client: those with the same form take the steps by turns. Nor does a protocol depend on
 * the database: on the second one, JSON and messages of the proto do, and must reply what they reply on the first one.
 * `test/long/every-rpc` plays all steps over every protocol on each database.
 */
describeEveryRpc({
  sqlite: [
    ['REST over h1'],
    ['gRPC (grpc-js)', 'gRPC (Connect transport)'],
    ['gRPC-Web over h1', 'gRPC-Web over h2'],
    ['Connect over h1', 'Connect over h2'],
    ['Connect with JSON over h1'],
  ],
  postgresql: [['REST over h2', 'gRPC (grpc-js)']],
});
