import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type CliResult, folderWith, runCli } from '../support/cli.js';
import { commandFolder, startProcess } from '../support/cli-process.js';
import { suiteService } from '../support/service-suite.js';

const ADMIN = 'admin-key-of-the-pipeline';
const PAGE = readFileSync(path.join(import.meta.dirname, '../../docs/controls-as-code.md'), 'utf8');
const [, SECTION = ''] = PAGE.split('## In a pipeline\n');

interface Workflow {
  readonly jobs: {
    readonly [name: string]: {
      readonly env?: Readonly<Record<string, string>>;
      readonly steps: readonly { readonly run?: string }[];
    };
  };
}

function blockOf(language: string): string {
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(SECTION) ?? [];
  if (text === undefined) throw new Error(`the page has no block of ${language}`);
  return text;
}

/** A repository as the page describes it: with the files of `init`, and the command as `npm ci` installs it. */
async function repository(): Promise<string> {
  const cwd = folderWith({ '.gitignore': 'node_modules\n', 'unrelated.txt': 'a\n' });
  expect((await runCli(['init'], { cwd })).code).toBe(0);
  const bin = path.join(cwd, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  commandFolder(bin);
  return cwd;
}

describe('the workflow of the page', () => {
  const service = suiteService(
    { SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: ADMIN },
    { headers: { 'x-api-key': ADMIN } },
  );
  const workflow: Workflow = parse(blockOf('yaml'));

  /** Runs the lines of a job as a runner does, until one fails. `npm ci` has been done. */
  async function runJob(cwd: string, name: string): Promise<CliResult & { readonly ran: number }> {
    const { steps = [], env = {} } = workflow.jobs[name] ?? {};
    const lines = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(lines[0]).toBe('npm ci');
    const variables: Record<string, string> = { GITHUB_REPOSITORY: 'acme/controls', GITHUB_SHA: '5f0c2ab' };
    for (const given of Object.keys(env)) {
      expect(['CONTROL_ENFORCEMENT_SERVER', 'CONTROL_ENFORCEMENT_API_KEY']).toContain(given);
      variables[given] = given.endsWith('SERVER') ? service.url : ADMIN;
    }
    const all = { code: 0, stdout: '', stderr: '', ran: 0 };
    for (const line of lines.slice(1)) {
      // As npx does, which finds it in node_modules/.bin.
      expect(line).toMatch(/^npx control-enforcement /);
      const script = line.replace(/^npx /, './node_modules/.bin/');
      const { code, stdout, stderr } = await startProcess('bash', ['-e', '-c', script], {
        cwd,
        env: variables,
      }).ended;
      all.ran += 1;
      all.stdout += stdout;
      all.stderr += stderr;
      if (code !== 0) return { ...all, code };
    }
    return all;
  }

  it('checks, shows and applies what a branch has', async () => {
    const cwd = await repository();
    expect(await runJob(cwd, 'check')).toMatchObject({ code: 0, stderr: '', ran: 4 });
    expect(readFileSync(path.join(cwd, 'controls.xml'), 'utf8')).toContain('<testsuite');
    const preview = await runJob(cwd, 'preview');
    expect([preview.stderr, preview.code]).toEqual(['', 0]);
    expect(preview.stdout).toMatch(/\+ Policy\/baseline\n.*2 would be created.*\n0 samples, 0 changed/s);
    const applied = await runJob(cwd, 'apply');
    expect([applied.stderr, applied.code]).toEqual(['', 0]);
    expect(applied.stdout).toContain('2 are created');
    expect((await runJob(cwd, 'apply')).stdout).toMatch(/^0 are created, 0 changed, 0 deleted/);
    expect(Object.keys(workflow.jobs)).toEqual(['check', 'preview', 'apply']);
  });

  it('stops at what is wrong, and says where', async () => {
    const cwd = await repository();
    const file = path.join(cwd, 'controls', 'baseline.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('decision: deny', 'decision: denny'));
    const { code, stderr, ran } = await runJob(cwd, 'check');
    expect([code, ran, stderr]).toEqual([
      1,
      2,
      expect.stringMatching(/^controls\/baseline\.yaml:18:5: data\.action\.decision: /),
    ]);
  });
});

describe('the pre-commit hook of the page', () => {
  it('lets good files pass, and stops the commit of bad ones with their place', async () => {
    const cwd = await repository();
    const git = (...words: string[]) =>
      startProcess('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd }).ended;
    execFileSync('git', ['init', '--quiet'], { cwd });
    const hook = path.join(cwd, '.git', 'hooks', 'pre-commit');
    writeFileSync(hook, blockOf('sh'));
    chmodSync(hook, 0o755);
    await git('add', '.');
    const first = await git('commit', '-m', 'Controls');
    // Git writes what a hook prints to the standard error.
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('2 documents are valid.\n')]);

    const file = path.join(cwd, 'controls', 'baseline.yaml');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, good.replace('  action:', '  acton:'));
    await git('add', '.');
    // What is committed counts, not what is in the folder.
    writeFileSync(file, good);
    const bad = await git('commit', '-m', 'A mistake');
    expect([bad.code, bad.stderr]).toEqual([
      1,
      expect.stringMatching(/^controls\/baseline\.yaml:\d+:3: data\.acton: /),
    ]);
    await git('reset', '--quiet');

    writeFileSync(file, good.replace('decision: deny', 'decision: observe'));
    const failed = await git('commit', '--all', '-m', 'Observe only');
    expect([failed.code, failed.stdout + failed.stderr]).toEqual([
      1,
      expect.stringContaining('✗ controls/baseline.test.yaml:9:5 a card number is denied'),
    ]);
    // Commits without controls take no time.
    writeFileSync(path.join(cwd, 'unrelated.txt'), 'b\n');
    expect((await git('commit', '-m', 'Others', 'unrelated.txt')).code).toBe(0);
    expect((await git('log', '--format=%s')).stdout).toBe('Others\nControls\n');
  });
});
