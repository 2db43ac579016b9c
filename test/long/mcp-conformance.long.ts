import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConformanceServer } from '../mcp-gateway/conformance-server.js';
import { startTestGateway, type TestGateway } from '../mcp-gateway/gateway.support.js';
import { suiteService } from '../support/service-suite.js';

/** The scenarios of the package need Node.js 22; older ones run them with the one of this package. */
const PACKAGES = ['@modelcontextprotocol/conformance@0.1.16', 'node@22.20.0'];
const AGENT = 'conformance-01';

/**
 * Scenarios for servers, of version 2025-11-25: the package has none of 2026-07-28. Left out are those of what the gateway does not
 * pass on (docs/mcp-gateway.md): requests of servers to clients, subscriptions to resources, and streams that go on after they
 * broke; and one about a schema of the server itself.
 */
const SCENARIOS = [
  ...[
    'server-initialize',
    'logging-set-level',
    'ping',
    'completion-complete',
    'tools-list',
    'tools-call-simple-text',
  ],
  ...['tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content'],
  ...[
    'tools-call-with-logging',
    'tools-call-error',
    'tools-call-with-progress',
    'server-sse-multiple-streams',
  ],
  ...[
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'prompts-list',
  ],
  ...[
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
  'dns-rebinding-protection',
];

describe('the gateway, as the conformance tests of MCP see it', () => {
  const service = suiteService();
  const folder = mkdtempSync(path.join(tmpdir(), 'conformance-'));
  let upstream: Awaited<ReturnType<typeof startConformanceServer>>;
  let gateway: TestGateway;
  beforeAll(async () => {
    writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder });
    await service.seed.linked(AGENT, 'no-bad-words');
    upstream = await startConformanceServer();
    gateway = await startTestGateway(service.url, {
      upstreams: [{ name: 'all', url: upstream.url }],
      mapping: { agent: { fixed: AGENT }, tool_names: 'plain' },
    });
  });
  afterAll(async () => {
    await gateway?.close();
    upstream?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(SCENARIOS)('%s', { timeout: 60_000 }, async (scenario) => {
    const script = path.join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const node = path.join(folder, 'node_modules/node/bin/node');
    const results = path.join(folder, scenario);
    const words = ['server', '--url', gateway.url, '--scenario', scenario, '--output-dir', results];
    const { stdout } = await promisify(execFile)(node, [script, ...words], { cwd: folder }).catch(
      (failed) => failed,
    );
    const files = readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('checks.json'),
    );
    const checks = files.flatMap(
      (name) =>
        JSON.parse(readFileSync(path.join(results, name), 'utf8')) as {
          status: string;
          name: string;
          errorMessage?: string;
        }[],
    );
    expect(
      checks.some(({ status }) => status === 'SUCCESS'),
      stdout,
    ).toBe(true);
    expect(checks.filter(({ status }) => status === 'FAILURE')).toEqual([]);
  });
});
