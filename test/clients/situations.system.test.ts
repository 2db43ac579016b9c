import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../support/http.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { approvePayments } from './payments.js';
import { NO_PYTHON, PYTHON, runPython } from './python-process.js';
import { type ScriptedPeer, startScriptedPeer } from './scripted-peer.js';
import { type Result, SITUATIONS, type Situation } from './situations.js';
import { typescriptResult } from './typescript-results.js';

const KEYS = [
  { name: 'boss', key: 'admin-key', role: 'admin' },
  { name: 'bot', key: 'agent-key', role: 'agent' },
  { name: 'ann', key: 'ann-key', role: 'approver' },
];
/** Nothing listens on it. */
const NOTHING = 'http://127.0.0.1:1';
const LANGUAGES = ['typescript', 'python'] as const;
type Language = (typeof LANGUAGES)[number];

/** Situations of one process at a time: more of them would make each other late. */
const AT_A_TIME = 16;

/** Agents have at least 10 characters. */
const agentOf = (language: Language, name: string): string => `${name}-of-${language}`.toLowerCase();
const scriptOf = (language: Language, index: number): string => `scripted-${language}-${index}`;

describe('clients of every language, in the same situations on sqlite', () => {
  let keys: TestKeysFile;
  let service: TestService;
  let peer: ScriptedPeer;
  /** Has a file for each agent of the Python client of which the peer has received a message. */
  const folder = mkdtempSync(path.join(tmpdir(), 'situations-'));
  let stopDeciding: () => void = () => {};
  beforeAll(async () => {
    keys = createKeysFile(KEYS);
    [service, peer] = await Promise.all([startService({ ...keys.environment }), startScriptedPeer()]);
    await seedAgents();
    const ann = restClient(service.url, { 'x-api-key': 'ann-key' });
    stopDeciding = approvePayments(
      ann,
      LANGUAGES.map((one) => agentOf(one, 'mail')),
    );
  });
  afterAll(async () => {
    stopDeciding();
    peer.close();
    await service.stop();
    keys.remove();
    rmSync(folder, { recursive: true });
  });

  async function seedAgents(): Promise<void> {
    const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
    const leak = {
      selector: { path: 'output' },
      evaluator: { name: 'regex', config: { pattern: 'secret-\\d' } },
    };
    const secret = {
      selector: { path: 'input.text' },
      evaluator: { name: 'regex', config: { pattern: 'sk-[a-z]+' } },
    };
    const text = { ...secret, selector: { path: 'output.text' } };
    const named = { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: '.' } } };
    const deny = (stage: string, condition: object, action: object = {}, scope: object = {}) => ({
      execution: 'server',
      scope: { stages: [stage], ...scope },
      condition,
      action: { decision: 'deny', ...action },
    });
    const approval = { approval: { approvers: ['role:approver'] } };
    const controls = {
      'no-bad': denyWord('\\bbad\\b'),
      precise: denyWord('vague', {
        action: { decision: 'steer', steering_context: { message: 'Be precise.' } },
      }),
      'no-leak': deny('post', leak),
      redact: deny('pre', secret, {
        modify: [{ path: 'input.text', replace: 'matches', with: '[redacted]' }],
      }),
      'redact-texts': deny('post', text, {
        modify: [{ path: 'output.text', replace: 'matches', with: '[redacted]' }],
      }),
      payments: deny('pre', named, approval, { step_names: ['pay'] }),
    };
    const ids = new Map<string, number>();
    for (const [name, data] of Object.entries(controls)) ids.set(name, await seed.control(name, data));
    for (const language of LANGUAGES) {
      await seed.agent(agentOf(language, 'mail'));
      await seed.agent(agentOf(language, 'other'));
      for (const id of ids.values()) await seed.link(agentOf(language, 'mail'), id);
      await seed.link(agentOf(language, 'other'), ids.get('payments') ?? 0);
    }
  }

  /** Where a situation takes place, and under which name of an agent. */
  function placed(language: Language, situation: Situation, index: number) {
    const { peer: script, at, agent } = situation;
    if (at === 'nothing') return { situation, url: NOTHING, agent: 'agent-of-nothing' };
    if (script === undefined) return { situation, url: service.url, agent: agentOf(language, agent ?? '') };
    const name = scriptOf(language, index);
    peer.scripts.set(name, script);
    if (situation.keys !== undefined) peer.keys.set(name, situation.keys);
    return { situation, url: peer.url, agent: name };
  }

  /** Resolves once the peer has received a message of an agent. */
  async function messageOf(agent: string): Promise<void> {
    await until(
      async () => peer.received.get(agent) ?? 0,
      (count) => count > 0,
    );
  }

  /** The parts of a result that are compared. */
  function compared(language: Language, result: Result, situation: Situation, index: number): Result {
    const received = peer.received.get(scriptOf(language, index)) ?? 0;
    const all: Record<string, unknown> = { ...result, received };
    // How an evaluation ends that nothing answers can depend on the time; that nothing answers does not.
    const always = result.outcome === 'not evaluated' ? ['outcome'] : ['outcome', 'error'];
    const names = [...always, ...Object.keys(situation.expect)];
    return Object.fromEntries(names.filter((name) => name in all).map((name) => [name, all[name]])) as never;
  }

  /** Compares all at once: a failure shows every situation that differs. */
  function expectAll(language: Language, results: readonly Result[]): void {
    const shown = (list: readonly Result[]) => list.map((one, index) => [SITUATIONS[index]?.name, one]);
    const found = SITUATIONS.map((one, index) =>
      compared(language, results[index] ?? { outcome: 'none' }, one, index),
    );
    expect(shown(found)).toEqual(shown(SITUATIONS.map((one) => one.expect)));
  }

  it('there are as many of them as docs/python.md says, each with its own name', () => {
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/python.md'), 'utf8');
    const said = [...page.matchAll(/(\d+) situations/g)].map(([, count]) => Number(count));
    expect(said).toEqual(said.map(() => SITUATIONS.length));
    expect(SITUATIONS.length).toBeGreaterThanOrEqual(100);
    expect(new Set(SITUATIONS.map(({ name }) => name)).size).toBe(SITUATIONS.length);
  });

  it('the TypeScript client', async () => {
    const results: Result[] = [];
    const begun = SITUATIONS.entries();
    const work = async (): Promise<void> => {
      for (const [index, situation] of begun) {
        const run = placed('typescript', situation, index);
        results[index] = await typescriptResult({ ...run, received: () => messageOf(run.agent) });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    expectAll('typescript', results);
  });

  it.runIf(PYTHON !== undefined)(
    `the Python client${PYTHON === undefined ? `: ${NO_PYTHON}` : ''}`,
    async () => {
      const runs = SITUATIONS.map((situation, index) => {
        const run = placed('python', situation, index);
        return { ...run, received: path.join(folder, run.agent) };
      });
      for (const { situation, agent, received } of runs)
        if (situation.cancel === 'after') void messageOf(agent).then(() => writeFileSync(received, ''));
      const input = runs.map((run) => JSON.stringify(run)).join('\n');
      const { code, output, errors } = await runPython(['situation_results.py', String(AT_A_TIME)], {
        input,
      });
      expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' });
      const results: Result[] = [];
      for (const line of output.trim().split('\n')) {
        const { index, result } = JSON.parse(line) as { index: number; result: Result };
        results[index] = result;
      }
      expectAll('python', results);
    },
  );
});
