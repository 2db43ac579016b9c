import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_BROWSER } from '../../scripts/browser.mjs';
import { openPage } from '../support/browser-page.js';
import { seedClientExample } from '../support/client-example.js';
import { restClient } from '../support/http.js';
import { installPacked } from '../support/installed-packages.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const run = promisify(execFile);
/** Where Deno is installed: DENO_PATH, or in the PATH. */
const DENO = [
  process.env.DENO_PATH ?? '',
  ...(process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, 'deno')),
].find((file) => existsSync(file));

/** A module for any runtime: evaluates, watches, evaluates locally, and returns what it saw. */
const program = (url: string, client: string, local: string) => `
import { createClient } from '${client}';
import { localControls } from '${local}';
export async function main() {
  const settings = { baseUrl: '${url}', agent: 'billing-bot-01', timeoutMs: 300_000 };
  const client = createClient({ ...settings, local: localControls() });
  const evaluate = (text) => client.evaluate({ stage: 'pre', step: { name: 'send_mail', input: { text } } });
  const seen = [];
  for (const text of ['hello', 'card 4111111111111111', 'a secret']) seen.push((await evaluate(text)).outcome);
  for await (const { controls } of client.watchControls()) {
    seen.push(...[...controls.values()].map(({ name }) => name));
    break;
  }
  seen.push(typeof (await client.serverInfo()).version);
  client.close();
  return seen.join(' ');
}
`;
/** Ends a runtime that hangs, before the test ends. */
const timeout = 300_000;
const EXPECTED = 'allow deny deny no-secrets no-card-numbers string';

/** Node.js without its modules, and without its own globals for what is in packages. */
const BARE = `
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, { ...context, conditions: ['browser', 'import', 'default'] });
    if (found.url.startsWith('node:')) throw new Error('imports ' + specifier);
    return found;
  }
\`));
const { log } = console;
// Node.js itself needs them for fetch.
for (const name of ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate']) {
  const value = globalThis[name];
  const get = () => {
    const [, , caller = ''] = new Error().stack.split('\\n');
    return caller.includes('/node_modules/') ? undefined : value;
  };
  Object.defineProperty(globalThis, name, { get, configurable: true });
}
const { main } = await import('./program.mjs');
log(await main());
`;

describe('the client in other runtimes, from its package', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await installPacked(['client'], ['zod@4.6.7', 're2js@2.10.0']);
    service = await startService();
    await seedClientExample(service.url);
    const seed = seeder(restClient(service.url));
    await seed.link(
      'billing-bot-01',
      await seed.control('no-secrets', denyWord('secret', { execution: 'sdk' })),
    );
    const name = '@control-enforcement/client';
    await writeFile(path.join(folder, 'program.mjs'), program(service.url, name, `${name}/local`));
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('works in Node.js without anything of Node.js', async () => {
    const entry = path.join(folder, 'bare.mjs');
    await writeFile(entry, BARE);
    const { stdout } = await run(process.execPath, ['--no-warnings', entry], { cwd: folder, timeout });
    expect(stdout.trim()).toBe(EXPECTED);
  });

  it.runIf(DENO !== undefined)('works in Deno (where it is installed)', async () => {
    const entry = path.join(folder, 'entry.mjs');
    await writeFile(entry, `import { main } from './program.mjs';\nconsole.log(await main());\n`);
    const options = [
      'run',
      '--no-lock',
      '--node-modules-dir=manual',
      '--allow-net',
      '--allow-read',
      '--allow-env',
      entry,
    ];
    const { stdout } = await run(DENO ?? '', options, { cwd: folder, timeout });
    expect(stdout.trim()).toBe(EXPECTED);
  });

  it.runIf(HAS_BROWSER)('works in a browser (where there is a Chromium)', async () => {
    let report: (text: string) => void = () => {};
    const reported = new Promise<string>((resolve) => {
      report = resolve;
    });
    const page = await servePage(folder, report);
    const opened = await openPage(page.url);
    expect(await reported).toBe(EXPECTED);
    await opened.close();
    page.close();
  });
});

/** Serves a page that runs the program from the installed modules, without a bundler, and reports what it returns. */
async function servePage(folder: string, report: (text: string) => void) {
  const esm = (name: string, file: string) => `/node_modules/${name}/${file}`;
  const client = '/node_modules/@control-enforcement/client/dist/packages/client/src';
  const imports = {
    '@control-enforcement/client': `${client}/web.js`,
    '@control-enforcement/client/local': `${client}/local/index.js`,
    '@bufbuild/protobuf': esm('@bufbuild/protobuf', 'dist/esm/index.js'),
    '@bufbuild/protobuf/codegenv2': esm('@bufbuild/protobuf', 'dist/esm/codegenv2/index.js'),
    '@bufbuild/protobuf/wkt': esm('@bufbuild/protobuf', 'dist/esm/wkt/index.js'),
    '@bufbuild/protobuf/reflect': esm('@bufbuild/protobuf', 'dist/esm/reflect/index.js'),
    '@bufbuild/protobuf/wire': esm('@bufbuild/protobuf', 'dist/esm/wire/index.js'),
    '@connectrpc/connect': esm('@connectrpc/connect', 'dist/esm/index.js'),
    '@connectrpc/connect/protocol': esm('@connectrpc/connect', 'dist/esm/protocol/index.js'),
    '@connectrpc/connect/protocol-connect': esm('@connectrpc/connect', 'dist/esm/protocol-connect/index.js'),
    '@connectrpc/connect/protocol-grpc-web': esm(
      '@connectrpc/connect',
      'dist/esm/protocol-grpc-web/index.js',
    ),
    '@connectrpc/connect-web': esm('@connectrpc/connect-web', 'dist/esm/index.js'),
    zod: esm('zod', 'index.js'),
    re2js: esm('re2js', 'build/index.js'),
    '@bufbuild/cel': esm('@bufbuild/cel', 'dist/esm/index.js'),
    '@bufbuild/cel-spec/': esm('@bufbuild/cel-spec', 'dist/esm/gen/'),
    '@bufbuild/re2': esm('@bufbuild/re2', 'dist/esm/index.js'),
  };
  const html = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
const tell = (text) => fetch('/report', { method: 'POST', body: text });
import('/program.mjs').then(({ main }) => main()).then(tell, (error) => tell(String(error?.stack ?? error)));
</script>`;
  const server = createServer(async (request, response) => {
    if (request.url === '/report') {
      let text = '';
      for await (const chunk of request) text += chunk;
      report(text);
      response.end();
    } else if (request.url === '/') {
      response.setHeader('content-type', 'text/html').end(html);
    } else {
      const file = path.join(folder, path.normalize(`/${request.url ?? ''}`));
      const content = await readFile(file).catch(() => undefined);
      if (content === undefined) report(`missing: ${request.url}`);
      response.statusCode = content === undefined ? 404 : 200;
      response.setHeader('content-type', 'text/javascript').end(content);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
