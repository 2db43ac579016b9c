import { codeFromString } from '@connectrpc/connect/protocol-connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../../support/service.js';
import { startConforming } from './conforming-service.js';
import { OTHER, ofPages, WEB_CASES } from './web-cases.js';
import { closeSession, type HttpVersion, lengthOfReply, play, type WebReply } from './web-exchange.js';

let withLane: TestService;
let without: TestService;

/** Starts both services before the tests of a block. */
function startBoth(more: Record<string, string>): void {
  beforeAll(async () => {
    const start = (lane: boolean) =>
      startConforming(true, {
        SERVICE_WEB_LANE: String(lane),
        SERVICE_MIN_REVISION_WAIT_SECONDS: '0.1',
        ...more,
      });
    [withLane, without] = await Promise.all([start(true), start(false)]);
  });
  afterAll(async () => {
    for (const { url } of [withLane, without]) closeSession(url);
    await Promise.all([withLane.stop(), without.stop()]);
  });
}

async function playBoth(version: HttpVersion, request: (typeof WEB_CASES)[number]['request']) {
  return Promise.all([play(withLane.url, version, request), play(without.url, version, request)]);
}

describe('a client that uses gRPC-Web or Connect', () => {
  startBoth({});

  it('has more than eight hundred cases, each with a name of its own', () => {
    expect(new Set(WEB_CASES.map(({ what }) => what)).size).toBe(WEB_CASES.length);
    expect(WEB_CASES.length).toBeGreaterThan(800);
  });

  describe.each<HttpVersion>(['1.1', '2'])('over HTTP/%s', (version) => {
    it.each(WEB_CASES.filter(({ request }) => request.isOpen !== true))(
      'sees the same with the lane and without: $what',
      async ({ request, code }) => {
        const [seen, reference] = await playBoth(version, request);
        expect(seen).toEqual(reference);
        expect(codeOf(seen)).toBe(code);
      },
    );

    it('is served by the lane', async () => {
      const request = WEB_CASES[0]?.request as (typeof WEB_CASES)[number]['request'];
      // Of the two, only the lane states the length of a reply of gRPC-Web.
      expect(await lengthOfReply(withLane.url, version, request)).toMatch(/^[1-9]/);
      expect(await lengthOfReply(without.url, version, request)).toBeUndefined();
    });
  });
});

describe('a body that never ends', () => {
  startBoth({ SERVICE_REQUEST_TIMEOUT_SECONDS: '1' });

  describe.each<HttpVersion>(['1.1', '2'])('over HTTP/%s', (version) => {
    it.each(WEB_CASES.filter(({ request }) => request.isOpen === true))(
      'is given up with the lane and without: $what',
      async ({ request, code }) => {
        const [seen, reference] = await playBoth(version, request);
        expect(seen).toEqual(reference);
        expect(codeOf(seen)).toBe(code);
      },
    );
  });
});

describe.each<[string, Record<string, string>]>([
  ['listed origins', { SERVICE_CORS_ORIGINS: 'http://listed.example,http://other.example' }],
  ['some origins without a key', { SERVICE_API_KEY_ENABLED: 'false' }],
])('a page, where the service is open to %s,', (_, more) => {
  startBoth(more);

  describe.each<HttpVersion>(['1.1', '2'])('over HTTP/%s', (version) => {
    it.each(WEB_CASES.filter(ofPages))(
      'sees the same with the lane and without: $what',
      async ({ request }) => {
        const [seen, reference] = await playBoth(version, request);
        expect(seen).toEqual(reference);
      },
    );
  });
});

/** The status of a call of gRPC-Web or Connect. */
function codeOf({ status, headers, body }: WebReply): number {
  const type = String(headers['content-type'] ?? '');
  if (type.startsWith('application/grpc-web') && Array.isArray(body) && body.length > 0) {
    return Number((body.at(-1) as Record<string, string>)['grpc-status']);
  }
  if (type !== 'application/proto' && type !== 'application/json') return OTHER;
  if (status === 200) return 0;
  const { code } = JSON.parse(String(body)) as { code: string };
  return codeFromString(code) ?? OTHER;
}
