import { once } from 'node:events';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AgentService,
  type WatchControlsRequest,
  WatchControlsResponseSchema,
} from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { type Client, createClient } from '../../packages/client/src/node.js';

type Message = MessageInitShape<typeof WatchControlsResponseSchema>;
/** What one call is answered with; a number waits for that long, and an error ends the call. */
type Script = readonly (Message | ConnectError | 'silence')[];

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A service that answers each call of WatchControls with the next script. */
async function startWatchService(scripts: readonly Script[]) {
  const requests: WatchControlsRequest[] = [];
  const sessions = new Set<Http2Session>();
  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(AgentService, {
        async *watchControls(request, { signal }) {
          const script = scripts[requests.length] ?? ['silence'];
          requests.push(request);
          for (const step of script) {
            if (step instanceof ConnectError) throw step;
            if (step === 'silence') await once(signal, 'abort');
            else yield create(WatchControlsResponseSchema, step);
          }
        },
      });
    },
  });
  const server = createServer(handler);
  server.on('session', (session) => sessions.add(session));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client: Client = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  cleanups.push(() => {
    client.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { client, requests };
}

const controls = (...ids: number[]) => ids.map((id) => ({ id, name: `control-${id}` }));
const full = (revision: number, ids: number[], incomplete = false): Message => ({
  revision: BigInt(revision),
  incomplete,
  news: { case: 'full', value: { controls: controls(...ids) } },
});
const changed = (revision: number, ids: number[], removed: number[] = [], incomplete = false): Message => ({
  revision: BigInt(revision),
  incomplete,
  news: { case: 'changed', value: { upserted: controls(...ids), removed } },
});
const current = (revision: number): Message => ({
  revision: BigInt(revision),
  news: { case: 'current', value: { stalenessSeconds: 0 } },
});
const broken = new ConnectError('gone', Code.Unavailable);

/** The first states that the client sees: revision, ids, and whether something changed. */
async function statesOf(client: Client, count: number, options = {}) {
  const states: [number, number[], boolean][] = [];
  for await (const state of client.watchControls('watched-agent', options)) {
    states.push([Number(state.revision), [...state.controls.keys()], state.changed]);
    if (states.length === count) break;
  }
  return states;
}

describe('a watch of controls', () => {
  it('gets controls that come in parts complete only', async () => {
    const { client, requests } = await startWatchService([
      [
        full(0, [9, 8], true),
        changed(0, [7], [], true),
        changed(5, [6]),
        current(6),
        changed(7, [10], [9], true),
        changed(8, [5]),
      ],
    ]);
    expect(await statesOf(client, 3, { maxMessageBytes: 70_000 })).toEqual([
      [5, [9, 8, 7, 6], true],
      [6, [9, 8, 7, 6], false],
      [8, [10, 8, 7, 6, 5], true],
    ]);
    expect(requests[0]?.maxMessageBytes).toBe(70_000);
  });

  it('continues from the last revision, and reads everything again after a part of everything', async () => {
    const { client, requests } = await startWatchService([
      [full(0, [9, 8], true), broken],
      [full(0, [4], true), changed(5, [3]), changed(5, [7], [], true), broken],
      [changed(6, [7])],
      [current(9), broken],
      [new ConnectError('broken', Code.Internal)],
      [full(2, [1])],
    ]);
    expect(await statesOf(client, 4)).toEqual([
      [5, [4, 3], true],
      [6, [7, 4, 3], true],
      [9, [7, 4, 3], false],
      // The database was restored to an earlier state.
      [2, [1], true],
    ]);
    expect(requests.map(({ fromRevision }) => fromRevision)).toEqual([undefined, 0n, 5n, 6n, 9n, 9n]);
  });

  it('opens another stream when one is silent', async () => {
    const { client, requests } = await startWatchService([[full(3, [1]), 'silence'], [current(4)]]);
    expect(await statesOf(client, 2, { silenceMs: 100 })).toEqual([
      [3, [1], true],
      [4, [1], false],
    ]);
    expect(requests.length).toBe(2);
  });

  it('reads everything again after a message that it does not know', async () => {
    const { client, requests } = await startWatchService([[full(3, [1]), { revision: 4n }], [full(4, [2])]]);
    expect(await statesOf(client, 2)).toEqual([
      [3, [1], true],
      [4, [2], true],
    ]);
    expect(requests[1]?.fromRevision).toBeUndefined();
  });

  it.each([Code.NotFound, Code.DataLoss, Code.PermissionDenied, Code.InvalidArgument])(
    'rejects with the code %i of the service',
    async (code) => {
      const { client } = await startWatchService([[full(3, [1]), new ConnectError('no', code)]]);
      await expect(statesOf(client, 2)).rejects.toMatchObject({ code });
    },
  );
});
