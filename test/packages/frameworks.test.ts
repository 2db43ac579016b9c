import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../support/http.js';
import { installPacked } from '../support/installed-packages.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

/** The frameworks, with the versions that these tests are written for. */
const FRAMEWORKS = [
  'ai@7.0.173',
  '@openai/agents@0.20.0',
  '@langchain/core@1.4.0',
  '@modelcontextprotocol/sdk@1.32.2',
  'zod@4.6.7',
];
const AGENT = 'billing-bot-01';
const ROOT = path.resolve(import.meta.dirname, '../..');
const SCRIPTS = path.join(import.meta.dirname, 'frameworks');

/** What a script reports: the answer to each text, the texts with which the tool ran, the error for a stream. */
interface Report {
  readonly seen: Record<string, string>;
  readonly ran: string[];
  readonly stream: string;
  /** The answer to a refused text with `onRefused`. */
  readonly answered: string;
}

const control = (selector: string, pattern: string, action: object) => ({
  execution: 'server',
  condition: { selector: { path: selector }, evaluator: { name: 'regex', config: { pattern } } },
  action,
});

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

describe('a guarded tool of a framework, written as a newcomer would', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await installPacked(['client'], FRAMEWORKS);
    await cp(SCRIPTS, folder, { recursive: true });
    service = await startService();
    const seed = seeder(restClient(service.url));
    await seed.agent(AGENT);
    const guidance = { message: 'Write it without haste.' };
    const controls = {
      'no-cards': control('input.text', '\\b\\d{16}\\b', { decision: 'deny' }),
      'no-haste': control('input.text', 'urgent', { decision: 'steer', steering_context: guidance }),
      'no-rows': control('output', 'SECRET-\\d+', { decision: 'deny' }),
    };
    for (const [name, data] of Object.entries(controls)) {
      await seed.link(AGENT, await seed.control(name, data));
    }
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is typed without casts, in a strict consumer', async () => {
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ module: 'nodenext', target: 'es2023', types: ['node'], noEmit: true, skipLibCheck: true },
      typeRoots: [path.join(ROOT, 'node_modules', '@types')],
    };
    const project = path.join(folder, 'tsconfig.json');
    await writeFile(project, JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', project]).catch(
      (failed: { stdout: string }) => failed,
    );
    expect(stdout).toBe('');
  });

  it.each(['ai', 'openai-agents', 'langchain', 'mcp'])('is enforced by %s', async (script) => {
    const recorder = await startRecorder(service.url);
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [`${script}.mjs`], {
        cwd: folder,
        env: { ...process.env, SERVICE_URL: recorder.url, OPENAI_API_KEY: 'none' },
      });
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
