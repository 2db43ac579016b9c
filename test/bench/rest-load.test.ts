import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { restLoad } from '../../bench/support/rest-load.mjs';

describe('the load generator of the REST benchmarks', () => {
  let server: http.Server;
  let url: string;
  let requests = 0;
  let connections = 0;
  /** The status of the reply to a request, by its number. */
  let statusOf = (_request: number) => 200;
  beforeEach(async () => {
    [requests, connections] = [0, 0];
    statusOf = () => 200;
    server = http.createServer((request, response) => {
      requests += 1;
      const reply = `reply ${requests}`;
      response.statusCode = statusOf(requests);
      request.resume().on('end', () => response.end(reply));
    });
    server.on('connection', () => {
      connections += 1;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    vi.useRealTimers();
    server.close();
    server.closeAllConnections();
  });

  it('ends with the last reply, not at a stroke of the clock', async () => {
    // No timer ever fires.
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
    const last = await restLoad(url, '/path', '{"a": 1}', 250, 4);
    expect([requests, connections]).toEqual([250, 4]);
    expect(last.toString()).toMatch(/^reply \d+$/);
  });

  it('fails with the first request that does', async () => {
    statusOf = (request) => (request === 7 ? 503 : 200);
    await expect(restLoad(url, '/path', '{}', 100, 2)).rejects.toThrow('503');
    expect(requests).toBeLessThan(100);
  });
});
