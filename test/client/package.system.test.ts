import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExample, seedClientExample } from '../support/client-example.js';
import { startService, type TestService } from '../support/service.js';
import { compiledTree } from '../support/service-process.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PACKAGE = 'control-enforcement-service/client';

/** The example of the README. */
function example(): string {
  const [, section = ''] = readFileSync(path.join(ROOT, 'README.md'), 'utf8').split(
    '\n## TypeScript client\n',
  );
  return /```ts\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
}

describe('the client as a package', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = path.resolve(path.dirname(compiledTree.main), '..');
    service = await startService();
    await seedClientExample(service.url);
  });
  afterAll(() => service.stop());

  /** Runs a module that imports the package. */
  function runModule(name: string, source: string): Promise<string> {
    const here = source
      .replace(PACKAGE, '../packages/client/src/node.js')
      .replace('http://localhost:8000', service.url);
    return runExample(folder, name, here, { skipLibCheck: true });
  }

  it('does what the README shows, in less than 15 lines', async () => {
    const source = example();
    expect(source).toContain(PACKAGE);
    expect(source.trimEnd().split('\n').length).toBeLessThan(15);
    const printed = await runModule('example', source);
    expect(printed).toBe('sent: hello\ndenied by no-card-numbers\n');
    expect(readFileSync(path.join(ROOT, 'README.md'), 'utf8')).toContain(`\`\`\`text\n${printed}\`\`\``);
  });

  it('does not keep a process alive that does not close it', async () => {
    const source = example().replace('client.close();', '');
    expect(await runModule('forgetful', source)).toContain('denied');
  });

  it('leaves nothing behind that keeps a process alive when it is closed while evaluations wait', async () => {
    const source = `
      import { createServer, type AddressInfo } from 'node:net';
      import { createClient } from '${PACKAGE}';
      const minutes = 600_000;
      const agent = 'billing-bot-01';
      const request = { agent, stage: 'pre', step: { name: 'a', input: {} } } as const;
      const settings = { timeoutMs: minutes, batchWindowMs: minutes };
      // One that answers, one that takes connections and says nothing, and one that refuses connections.
      const silent = createServer();
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      silent.unref();
      const { port } = silent.address() as AddressInfo;
      const addresses = ['http://localhost:8000', \`http://127.0.0.1:\${port}\`, 'http://127.0.0.1:1'];
      const clients = addresses.map((baseUrl) => createClient({ baseUrl, ...settings }));
      const answered = await clients[0]?.evaluate(request);
      const waiting = clients.flatMap((client) => [1, 2, 3].map(() => client.evaluate(request)));
      const settled = Promise.allSettled(waiting);
      // In flight, and others in the window behind them.
      await new Promise((resolve) => setTimeout(resolve, 20));
      for (const client of clients) void client.evaluate(request).catch(() => {});
      for (const client of clients) client.close();
      await settled;
      console.log(answered?.isSafe);`;
    expect(await runModule('closing', source)).toBe('true\n');
  });

  it('is where package.json points', async () => {
    const { exports } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
    const ownExports = JSON.parse(
      await readFile(path.join(ROOT, 'packages/client/package.json'), 'utf8'),
    ).exports;
    const targets = JSON.stringify([exports['./client'], exports['./client/local'], ownExports]).match(
      /\.\/dist[^"]+/g,
    );
    expect(targets?.length).toBeGreaterThan(10);
    for (const target of targets ?? []) {
      expect(existsSync(target.replace('./dist', folder)), target).toBe(true);
    }
  });

  it.each([
    [
      'web',
      [
        '@bufbuild/protobuf',
        '@bufbuild/protobuf/codegenv2',
        '@bufbuild/protobuf/wkt',
        '@connectrpc/connect',
        '@connectrpc/connect-web',
      ],
    ],
    [
      'local/index',
      [
        '@bufbuild/cel',
        '@bufbuild/protobuf',
        '@bufbuild/protobuf/codegenv2',
        '@bufbuild/protobuf/wkt',
        're2js',
        'zod',
      ],
    ],
  ])('%s.js needs nothing of Node.js', async (entry, needed) => {
    const seen = new Set<string>();
    const packages = new Set<string>();
    async function follow(file: string): Promise<void> {
      if (seen.has(file)) return;
      seen.add(file);
      const source = await readFile(file, 'utf8');
      for (const [, from = ''] of source.matchAll(/(?:\bfrom|^import) ['"]([^'"]+)['"];$/gm)) {
        if (from.startsWith('.')) await follow(path.resolve(path.dirname(file), from));
        else packages.add(from);
      }
      // The core and the parser have functions for the service that write to a Buffer; test/packages runs the others without it.
      if (entry === 'web' && !file.includes('exact-json'))
        expect(source).not.toMatch(/\b(Buffer|process|require)\b[.(]/);
    }
    await follow(path.join(folder, 'packages', 'client', 'src', `${entry}.js`));
    expect(seen.size).toBeGreaterThan(10);
    expect([...packages].sort()).toEqual(needed);
  });
});
