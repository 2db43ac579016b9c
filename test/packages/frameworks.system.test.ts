import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPacked } from '../support/installed-packages.js';
import type { TestService } from '../support/service.js';
import { approvalExamples } from './approval-examples.js';
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
/** The packages over the client, one for each framework, and the scripts of newcomers who use the client alone. */
const NEWCOMERS = {
  'ai-sdk': 'ai',
  'openai-agents': 'openai-agents',
  langchain: 'langchain',
  'mcp-middleware': 'mcp',
} as const;
const ADAPTERS = Object.keys(NEWCOMERS) as (keyof typeof NEWCOMERS)[];
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
  /** What would pass unchecked, by the name of the way. */
  readonly unchecked: Record<string, unknown>;
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
/** What the compiler says of all that is compiled. */
let compiled: Promise<string>;
beforeAll(async () => {
  // Both take long, and most of the one is writing files.
  const starting = startFrameworkService();
  [folder, service] = await Promise.all([installPacked(['client', ...ADAPTERS], FRAMEWORKS), starting]);
  await cp(SCRIPTS, folder, { recursive: true });
  // The sources of the adapters are compiled where their frameworks are.
  for (const name of ADAPTERS) {
    await cp(path.join(PACKAGES, name, 'src'), path.join(folder, 'sources', name), { recursive: true });
    const { example } = await exampleOf(name);
    const source = example.replace('http://localhost:8000', service.url).replace('YOUR-KEY', AGENT_KEY);
    await writeFile(path.join(folder, `readme-${name}.ts`), source);
  }
  compiled = compile();
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

/** What the scripts of a framework report. */
interface Reports {
  readonly newcomer: Report;
  /** What the clients of the newcomer sent. */
  readonly sent: string;
  /** What the example of the README printed. */
  readonly readme: string;
  readonly adapter: AdapterReport;
}

/** Runs all scripts of a framework, one after the other in a process: most of the time it loads the framework. */
async function runScripts(name: keyof typeof NEWCOMERS): Promise<Reports> {
  await compiled;
  const recorder = await startRecorder(service.url);
  try {
    const keys = { SERVICE_API_KEY: AGENT_KEY, OPENAI_API_KEY: 'none' };
    const env = { ...process.env, ...keys, SERVICE_URL: service.url, NEWCOMER_URL: recorder.url };
    const scripts = [`${NEWCOMERS[name]}.mjs`, `compiled/readme-${name}.js`, `compiled/adapters/${name}.js`];
    const source = scripts.map((script) => `await import('./${script}');`).join('\n');
    const words = ['--input-type=module', '--eval', source];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder, env });
    const [newcomer = '', ...lines] = stdout.trimEnd().split('\n');
    return {
      newcomer: JSON.parse(newcomer),
      sent: recorder.sent(),
      readme: lines.slice(0, -1).join('\n'),
      adapter: JSON.parse(lines.at(-1) ?? ''),
    };
  } finally {
    recorder.server.close();
  }
}

const running = new Map<string, Promise<Reports>>();
/** What the scripts of a framework report, which run once. */
function reportsOf(name: keyof typeof NEWCOMERS): Promise<Reports> {
  const reports = running.get(name) ?? runScripts(name);
  running.set(name, reports);
  return reports;
}

/** Compiles the adapters, their scripts and the examples as a strict consumer. Returns what the compiler says. */
async function compile(): Promise<string> {
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
  return stdout;
}

it('guarded tools, the adapters and their scripts are typed, in a strict consumer', async () => {
  expect(await compiled).toBe('');
});

approvalExamples(() => folder);

describe('a guarded tool of a framework, written as a newcomer would', () => {
  it.each(ADAPTERS)('is enforced by the framework of %s', async (name) => {
    const { newcomer, sent } = await reportsOf(name);
    const { seen, ran, stream, answered } = newcomer;
    expect(seen.hello).toBe('sent hello');
    // The model learns that it was denied, not by which pattern.
    expect(seen['card 4111111111111111']).toContain('denied before it ran by "no-card-numbers"');
    expect(seen['urgent mail']).toContain('Write it without haste.');
    // What the tool throws is checked like its output.
    expect(seen.break).toContain('denied after it ran by "no-rows"');
    expect(JSON.stringify(seen)).not.toMatch(/SECRET|\\d|16\}/);
    expect(answered).toMatch(/^told: Step "send_mail" was denied before it ran by "no-card-numbers"/);
    expect(ran).toEqual(['hello', 'break']);
    expect(stream).toContain('is a generator');
    // The steps are there to be found, so the conversation would be, too.
    expect(sent).toContain('urgent mail');
    expect(sent).not.toContain('CONVERSATION');
  });
});

const has = (text: string): unknown => expect.stringContaining(text);
const NOT_RUN = has('denied before it ran by \\"no-cards\\"');
const DENIED_INPUT = has('denied before it ran by "no-forbidden-words"');
const DENIED_OUTPUT = has('denied after it ran by "no-codes"');
/** What the scripts report of ways by which something could pass unchecked. */
const UNCHECKED = {
  'ai-sdk': {
    // Interrupted, and nothing decided: it needs no approval of the service.
    ownApproval: [true, null],
    // Asked once more, and paid once.
    repeatedIds: [true, 1],
    thrown: expect.stringMatching(/^((?!SECRET).)*output_withheld((?!SECRET).)*$/),
    preliminary: expect.stringMatching(/^((?!SECRET).)*"output":"fine"((?!SECRET).)*$/),
    file: DENIED_INPUT,
    // Every text is ended, and nothing of the call is shown.
    deniedCall: ['text-start', 'text-end', 'text-start', 'text-end', 'text-start', 'text-end'],
    changedStream: expect.stringMatching(/^((?!sk-).)*"the key \[redacted\]"((?!sk-).)*$/),
    // The same text, and no half of a character.
    halves: [true, false],
    cancelled: 'cancelled',
    structured: ['AI_NoObjectGeneratedError', true],
    misspelled: has('did you mean "onUnavailable"?'),
  },
  'openai-agents': {
    shell: has('did list'),
    shellDenied: has('not_executed'),
    shellWithheld: expect.stringMatching(/^((?!SECRET).)*output_withheld((?!SECRET).)*$/),
    // One interruption, nothing ran before the decision, nothing is left, and it ran once.
    askedShell: [1, 0, 0, 1],
    editor: has('edited cards.txt'),
    editorDenied: has('not_executed'),
    computer: has('cannot be checked'),
    ownApproval: [['own_pay', 1]],
    mcpTools: has('not_executed'),
    history: DENIED_INPUT,
    file: DENIED_INPUT,
    answeredShell: DENIED_OUTPUT,
    commands: ['list', 'rows'],
  },
  langchain: {
    parallel: ['sent one', NOT_RUN, 'sent two'],
    thrown: [has('output_withheld')],
    command: ['fine'],
    commandWithheld: [has('output_withheld')],
    file: DENIED_INPUT,
    serverTool: DENIED_INPUT,
    additional: DENIED_OUTPUT,
    changed: expect.stringMatching(/^((?!sk-).)*"the key \[redacted\]"((?!sk-).)*$/),
    repeatedIds: [true, 1],
    structured: { answer: 'fine' },
  },
  'mcp-middleware': {
    late: has('has tools already'),
    updated: 'denied',
    updatedEarlier: 'denied',
    older: 'denied',
    task: has('runs as a task'),
  },
};

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
      const { readme, adapter: report } = await reportsOf(name);
      expect(`${readme}\n`).toBe(printed);
      expect(report.mails).toEqual({
        allowed: { answer: 'sent hello' },
        denied: refused('not_executed', 'denied', denied, ['no-cards']),
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

      expect(report.unchecked).toEqual(UNCHECKED[name]);

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
