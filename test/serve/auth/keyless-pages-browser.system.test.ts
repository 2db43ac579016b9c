import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HAS_BROWSER } from '../../../scripts/browser.mjs';
import { type OpenPage, openPage } from '../../support/browser-page.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';

const AGENT = 'unguarded-agent';
const LINK = `/api/v1/agents/${AGENT}/controls/1`;
const LINK_RPC = '/enforcement.v1.AgentService/AddAgentControl';

/** What a page finds out: for each request the status, or "blocked" when the browser keeps the reply from it. */
type Report = Record<string, number | string>;

interface PageServer {
  readonly port: number;
  /** What the page reports; the body of its next POST to /report. */
  report(): Promise<Report>;
  close(): Promise<void>;
}

const open: (OpenPage | PageServer | { close(): Promise<void> })[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A server of pages. */
async function servePage(script: (own: string) => string): Promise<PageServer> {
  const reports: Report[] = [];
  let wake = () => {};
  const server = http.createServer(async (request, response) => {
    if (request.method === 'POST' && request.url === '/report') {
      let text = '';
      for await (const chunk of request) text += chunk;
      reports.push(JSON.parse(text));
      wake();
      response.end();
    } else if (request.url === '/') {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><body><script type="module">${script(`http://127.0.0.1:${port()}`)}</script>`,
      );
    } else {
      response.writeHead(404).end();
    }
  });
  const port = () => (server.address() as AddressInfo).port;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const served: PageServer = {
    port: port(),
    async report() {
      while (reports.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return reports.shift() ?? {};
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  open.push(served);
  return served;
}

async function start(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await startService(environment);
  open.push({ close: () => service.stop() });
  const seed = seeder(restClient(service.url));
  await seed.agent(AGENT);
  await seed.control('to-be-linked');
  return service;
}

async function stateOf({ url }: TestService) {
  const call = restClient(url);
  const { status } = await call('GET', '/api/v1/policies/1/controls');
  return {
    linked: (await call('GET', `/api/v1/agents/${AGENT}/controls`)).body.controls.length,
    policy: status,
  };
}
const UNTOUCHED = { linked: 0, policy: 404 };

/** Requests of a page to the service at `target`, whose outcomes are in `report` when they have ended. */
const requests = (target: string) => `
  const report = {};
  const tell = async (name, path, options) => {
    report[name] = await fetch(${JSON.stringify(target)} + path, options).then((reply) => reply.status, () => 'blocked');
  };
  const json = (method, value) => ({ method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) });
  await tell('read', '/api/v1/agents');
  await tell('put', '/api/v1/policies', json('PUT', { name: 'by-a-page' }));
  await tell('rpc', '${LINK_RPC}', json('POST', { agentName: '${AGENT}', controlId: 1 }));
  await tell('simple post', '${LINK}', { method: 'POST' });
`;

/** The same without asking to see the replies: with a request of a form, and with one that outlives the page. */
const blindRequests = (target: string) => `
  await fetch(${JSON.stringify(target)} + '${LINK}', { method: 'POST', mode: 'no-cors', body: 'x' }).catch(() => {});
  navigator.sendBeacon(${JSON.stringify(target)} + '${LINK}', 'x');
  const frame = document.createElement('iframe');
  frame.name = 'frame';
  const form = document.createElement('form');
  Object.assign(form, { action: ${JSON.stringify(target)} + '${LINK}', method: 'POST', target: 'frame' });
  document.body.append(frame, form);
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
  form.submit();
  await loaded;
`;

const sendReport = (to: string) => `
  await fetch(${JSON.stringify(to)} + '/report', { method: 'POST', mode: 'no-cors', body: JSON.stringify(report) });
`;

describe.runIf(HAS_BROWSER)('in a real browser (where there is a Chromium)', () => {
  it('a page of another origin reads, and changes nothing', async () => {
    const service = await start();
    const pages = await servePage(() => requests(service.url) + blindRequests(service.url) + sendReport(''));
    open.push(await openPage(`http://evil.example:${pages.port}/`));
    expect(await pages.report()).toEqual({
      read: 200,
      put: 'blocked',
      rpc: 'blocked',
      'simple post': 'blocked',
    });
    expect(await stateOf(service)).toEqual(UNTOUCHED);
  });

  it('a page on localhost changes what it likes', async () => {
    const service = await start();
    const pages = await servePage(() => requests(service.url) + sendReport(''));
    open.push(await openPage(`http://localhost:${pages.port}/`));
    expect(await pages.report()).toEqual({ read: 200, put: 200, rpc: 200, 'simple post': 200 });
    expect(await stateOf(service)).toEqual({ linked: 1, policy: 200 });
  });

  it('a page whose name was given the address of the service changes nothing', async () => {
    const collector = await servePage(() => '');
    const pages = await servePage(
      () => `
        await fetch('/report', { method: 'POST', body: '{}' });
        const ready = () => fetch('/ready').then((reply) => reply.ok, () => false);
        while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 50));
        ${requests('')} ${blindRequests('')} ${sendReport(`http://127.0.0.1:${collector.port}`)}`,
    );
    open.push(await openPage(`http://rebound.example:${pages.port}/`));
    await pages.report();
    await pages.close();
    const service = await start({ SERVICE_PORT: String(pages.port) });
    expect(await collector.report()).toEqual({ read: 200, put: 403, rpc: 403, 'simple post': 403 });
    expect(await stateOf(service)).toEqual(UNTOUCHED);
  });
});
