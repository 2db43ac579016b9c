import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPacked } from '../support/installed-packages.js';
import type { TestService } from '../support/service.js';
import { AGENT_KEY, startFrameworkService } from './framework-service.js';

/** The frameworks, with the versions that these tests are written for. */
const FRAMEWORKS = [
  'ai@7.0.173',
  '@openai/agents@0.20.0',
  '@langchain/core@1.4.0',
  '@langchain/langgraph@1.7.3',
  'langchain@1.5.14',
  '@modelcontextprotocol/sdk@1.32.2',
  '@modelcontextprotocol/server@2.4.0',
  '@modelcontextprotocol/client@2.4.0',
  'zod@4.6.7',
];
/** The packages over the client, one for each framework. */
const ADAPTERS = ['ai-sdk', 'openai-agents', 'langchain', 'mcp-middleware'];
const ROOT = path.resolve(import.meta.dirname, '../..');
const PACKAGES = path.join(ROOT, 'packages');
const SCRIPTS = path.join(import.meta.dirname, 'frameworks');

/** What a script reports: the answer to each text, the texts with which the tool ran, the error for a stream. */
interface Report {
  readonly seen: Record<string, string>;
  readonly ran: string[];
  readonly stream: string;
  /** The answer to a refused text with `onRefused`. */
  readonly answered: string;
}

/** What the script of an adapter reports; the one for MCP has no models. */
interface AdapterReport {
  readonly mails: Record<string, unknown>;
  readonly away: unknown;
  readonly approved: unknown;
  readonly rejected: unknown;
  readonly ran: string[];
  readonly model?: Record<string, { text: string; saw: string }>;
  /** The answer of a model that keeps its options, and those that it was called with; of LangChain. */
  readonly kept?: unknown;
  readonly streams?: Record<'streamed' | 'denied' | 'redacted', string[]>;
}

/** Passes bytes on to a service, and keeps those of its clients. */
async function startRecorder(target: string): Promise<{ url: string; sent(): string; server: Server }> {
  const { hostname, port } = new URL(target);
  const chunks: Buffer[] = [];
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.pipe(upstream).pipe(socket);
    for (const one of [socket, upstream]) one.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, sent: () => Buffer.concat(chunks).toString('latin1'), server };
}

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = await installPacked(['client', ...ADAPTERS], FRAMEWORKS);
  await cp(SCRIPTS, folder, { recursive: true });
  service = await startFrameworkService();
  // The sources of the adapters are compiled where their frameworks are.
  for (const name of ADAPTERS) {
    await cp(path.join(PACKAGES, name, 'src'), path.join(folder, 'sources', name), { recursive: true });
    const { example } = await exampleOf(name);
    const source = example.replace('http://localhost:8000', service.url).replace('YOUR-KEY', AGENT_KEY);
    await writeFile(path.join(folder, `readme-${name}.ts`), source);
  }
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The example in the README of a package, and what it prints. */
async function exampleOf(name: string): Promise<{ example: string; printed: string }> {
  const text = await readFile(path.join(PACKAGES, name, 'README.md'), 'utf8');
  const [, example = '', printed = ''] = /```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(text) ?? [];
  return { example, printed };
}

/** What scripts print that run one after the other in a process: most of the time it loads the framework. */
async function printedBy(serviceUrl: string, ...scripts: readonly string[]): Promise<string> {
  const env = { ...process.env, SERVICE_URL: serviceUrl, SERVICE_API_KEY: AGENT_KEY, OPENAI_API_KEY: 'none' };
  const source = scripts.map((script) => `await import('./${script}');`).join('\n');
  const words = ['--input-type=module', '--eval', source];
  return (await promisify(execFile)(process.execPath, words, { cwd: folder, env })).stdout;
}

it('guarded tools, the adapters and their scripts are typed, in a strict consumer', async () => {
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ module: 'nodenext', target: 'es2023', types: ['node'], skipLibCheck: true },
    ...{ rootDir: '.', outDir: 'compiled', declaration: true, isolatedDeclarations: false },
    typeRoots: [path.join(ROOT, 'node_modules', '@types')],
  };
  const project = path.join(folder, 'tsconfig.json');
  await writeFile(project, JSON.stringify({ compilerOptions, include: ['*.ts', 'adapters', 'sources'] }));
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', project]).catch(
    (failed: { stdout: string }) => failed,
  );
  expect(stdout).toBe('');
});

describe('a guarded tool of a framework, written as a newcomer would', () => {
  it.each(['ai', 'openai-agents', 'langchain', 'mcp'])('is enforced by %s', async (script) => {
    const recorder = await startRecorder(service.url);
    try {
      const stdout = await printedBy(recorder.url, `${script}.mjs`);
      const { seen, ran, stream, answered } = JSON.parse(stdout) as Report;
      expect(seen.hello).toBe('sent hello');
      // The model learns that it was denied, not by which pattern.
      expect(seen['card 4111111111111111']).toContain('denied before it ran by "no-cards"');
      expect(seen['urgent mail']).toContain('Write it without haste.');
      // What the tool throws is checked like its output.
      expect(seen.break).toContain('denied after it ran by "no-rows"');
      expect(JSON.stringify(seen)).not.toMatch(/SECRET|\\d|16\}/);
      expect(answered).toMatch(/^told: Step "send_mail" was denied before it ran by "no-cards"/);
      expect(ran).toEqual(['hello', 'break']);
      expect(stream).toContain('is a generator');
      const sent = recorder.sent();
      // The steps are there to be found, so the conversation would be, too.
      expect(sent).toContain('urgent mail');
      expect(sent).not.toContain('CONVERSATION');
    } finally {
      recorder.server.close();
    }
  });
});

describe('the adapter of a framework', () => {
  const refused = (
    status: string,
    reason: string,
    message: unknown,
    controls: readonly string[],
    more = {},
  ) => ({
    ...{ status, reason, message, controls },
    ...more,
  });
  const denied = expect.stringContaining('A policy forbids it');

  it.each(ADAPTERS)(
    '%s does what its README shows, guards tools and models, and interrupts',
    async (name) => {
      const { example, printed } = await exampleOf(name);
      expect(example).toContain(`'@control-enforcement/${name}'`);
      const scripts = [`compiled/readme-${name}.js`, `compiled/adapters/${name}.js`];
      const text = await printedBy(service.url, ...scripts);
      expect(text.slice(0, printed.length)).toBe(printed);
      const report = JSON.parse(text.slice(printed.length)) as AdapterReport;
      expect(report.mails).toEqual({
        allowed: { answer: 'sent hello' },
        denied: refused('not_executed', 'denied', denied, ['no-card-numbers']),
        steered: refused('not_executed', 'steered', expect.stringContaining('without haste'), ['no-hurry'], {
          required_actions: ['rewrite'],
        }),
        // It ran: a model that believed otherwise would repeat it.
        withheld: refused('output_withheld', 'denied', denied, ['no-table-rows']),
        redacted: { answer: 'the key [redacted]' },
        changed: { answer: 'sent my [hidden]' },
      });
      expect(report.away).toEqual(
        refused('not_executed', 'unavailable', expect.stringContaining('Try again later'), []),
      );
      const [mails, payments] = [0, 1].map((wanted) =>
        report.ran.filter((text) => Number(text.startsWith('pay ')) === wanted),
      );
      expect(mails).toEqual(['hello', 'rows', 'key', 'my [hidden]']);
      expect(report.approved).toEqual({ answer: expect.stringMatching(/^paid \d+$/) });
      expect(JSON.stringify(report.rejected)).toMatch(/not_executed.*its approval \(\d+\) was denied/);
      // The one that was approved, and for MCP once more with the SDK before.
      expect(payments).toHaveLength(name === 'mcp-middleware' ? 2 : 1);

      const { model, streams } = report;
      if (model === undefined || streams === undefined) return expect(name).toBe('mcp-middleware');
      expect(model.allowed?.text).toBe('good morning');
      expect(model.inputDenied).toEqual({
        text: expect.stringContaining('"no-forbidden-words"'),
        saw: 'null',
      });
      expect(model.inputChanged).toEqual({ text: 'thanks', saw: expect.stringContaining('my [ssn]') });
      expect(model.outputDenied?.text).toMatch(/^Step "model" was denied after it ran by "no-codes"/);
      expect(model.outputRedacted?.text).toBe('the key [redacted]');

      if (name === 'langchain') expect(report.kept).toEqual(['good morning', [['as bound']]]);

      expect(streams.streamed.join('')).toBe(
        'Good morning, this is a text of several windows, and nothing is wrong with it.',
      );
      expect(streams.streamed.length).toBeGreaterThan(1);
      // A part of it was released before, and nothing of what the control found in three windows.
      expect(streams.denied.length).toBeGreaterThan(1);
      expect(streams.denied.join('')).toMatch(
        /^It is a .*Step "model" was denied after it ran by "no-codes"/s,
      );
      expect(streams.denied.join('')).not.toMatch(/launch|123/);
      expect(streams.redacted.join('')).toBe(
        'The key that you asked for is [redacted], and this is the end of the text.',
      );
    },
  );
});
