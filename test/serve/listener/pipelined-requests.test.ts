import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Peer } from '../../../src/serve/admission/peer.js';
import { isOneRequest, PipelinedRequests } from '../../../src/serve/listener/pipelined-requests.js';

const READ = () => {};

/** A socket that HTTP/1 reads. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  constructor() {
    super();
    this.on('data', READ);
  }
  get isSliced(): boolean {
    return !this.listeners('data').includes(READ);
  }
}

class FakePeer {
  sliceBytes = 1_024;
  isUnknown = true;
  isIgnored = false;
  isWorking = false;
  isCutOff = false;
  readonly turns: (() => void)[] = [];
  cutOff(): void {
    this.isCutOff = true;
  }
  nextTurn(callback: () => void): void {
    this.turns.push(callback);
  }
}

function connection(waiting = { waiting: 0 }) {
  const socket = new FakeSocket();
  const peer = new FakePeer();
  const requests = new PipelinedRequests(socket as unknown as Socket, peer as unknown as Peer, waiting);
  return { socket, peer, requests };
}

const afterImmediates = () => new Promise((resolve) => setImmediate(resolve));

describe('requests that wait behind others', () => {
  it('without a key are cut off when too many wait on all connections', () => {
    const count = { waiting: 9_999 };
    const { peer, requests } = connection(count);
    requests.wait(() => {});
    expect(peer.isCutOff).toBe(false);
    requests.wait(() => {});
    expect([peer.isCutOff, count.waiting]).toEqual([true, 10_000]);
    const known = connection(count);
    known.peer.isUnknown = false;
    known.requests.wait(() => {});
    expect([known.peer.isCutOff, count.waiting]).toEqual([false, 10_001]);
  });

  it('start in their order over several turns, and are forgotten with the connection', () => {
    const count = { waiting: 0 };
    const { socket, peer, requests } = connection(count);
    const started: number[] = [];
    for (let id = 0; id < 40; id += 1) requests.wait(() => started.push(id));
    peer.turns.shift()?.();
    expect(started).toEqual(Array.from({ length: 16 }, (_, id) => id));
    expect(count.waiting).toBe(24);
    socket.emit('close');
    expect([count.waiting, requests.waiting]).toEqual([0, 0]);
  });
});

describe('a connection is read in slices', () => {
  it('when a request had to wait', async () => {
    const { socket, requests } = connection();
    requests.wait(() => {});
    expect(socket.isSliced).toBe(false);
    await afterImmediates();
    expect(socket.isSliced).toBe(true);
  });

  it.each([
    ['when its first request showed no key', true],
    ['unless its first request showed a key', false],
  ])('%s', async (_when, isSliced) => {
    const { socket, peer, requests } = connection();
    peer.isUnknown = isSliced;
    requests.served();
    await afterImmediates();
    expect(socket.isSliced).toBe(isSliced);
  });
});

describe('the first bytes of a connection', () => {
  const head = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  it.each([
    [head, true],
    [`${head}{"a":1}`, true],
    [`${head}${head}`, false],
    [`${head}body\r\n\r\n`, false],
    ['GET / HTTP/1.1\r\nHost: x\r\n', false],
    ['', false],
  ])('%j are one request: %s', (text, isOne) => {
    expect(isOneRequest(Buffer.from(text))).toBe(isOne);
  });
});
