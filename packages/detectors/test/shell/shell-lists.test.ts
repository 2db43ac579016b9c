import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import { shellEvaluator } from '../../src/shell/shell.js';
import { ALLOWED_MARKER, BUILTINS } from './shell-battery.js';
import { CORPUS_CONFIG } from './shell-corpus.js';

/** Lines of a list; a line break in one is written as ⏎. */
function lines(name: string): string[] {
  const file = path.resolve(import.meta.dirname, `../../../../test/corpora/shell/${name}.txt`);
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('⏎', '\n'));
}

interface Listed {
  readonly kind: string;
  readonly score: number;
}

function judged(config: JsonObject): (text: string) => readonly Listed[] {
  const check = shellEvaluator.compile(config);
  return (text) => {
    const result = check.evaluate(text, FULL_CALL);
    if (!('matched' in result)) throw new Error('the check does not answer at once');
    return (result.metadata?.findings ?? []) as unknown as Listed[];
  };
}

const USE = { selectorPath: '*', positive: true, beforeSteps: false } as const;

/** Programs that the lines of the lists have. */
const TOOLS = (
  'apt awk bash busybox cat curl docker dpkg env expect fd find flock gdb git kubectl ls make man nice npm npx parallel rg rsync scp ' +
  'script sed sort split ssh su tar time timeout vim watch wget xargs zip'
).split(' ');

describe('a denied call', () => {
  const find = judged({ deny: [{ program: 'git', arguments: ['add'] }] });
  const launchers = lines('launchers');

  it('is found behind every program and builtin that runs it', () => {
    expect(launchers.length).toBeGreaterThan(200);
    const missed = launchers.filter((line) => !find(line).some(({ kind }) => kind === 'call_denied'));
    expect(missed).toEqual([]);
  });

  it.each([
    'echo git add -A',
    "printf '%s' 'git add -A'",
    'grep -rn "git add -A" docs',
    'git commit -m "git add -A"',
    'cat git add',
    'ls git add',
    'test git = add',
    'apt-get install git add',
    'which git add',
  ])('is none in %j, which runs nothing of it', (line) => {
    expect(find(line)).toEqual([]);
  });
});

describe('a list of allowed programs', () => {
  const find = judged({ allow_programs: [...BUILTINS, ...TOOLS, 'ok'] });

  it('lets nothing pass that is outside of what is understood', () => {
    const passed = lines('outside').filter((line) => !find(line).some(({ score }) => score === 1));
    expect(passed).toEqual([]);
  });

  it('lets the usual uses of what is understood pass', () => {
    const found = lines('inside').filter((line) => find(line).length > 0);
    expect(found).toEqual([]);
  });
});

describe('texts of the battery that have run a program', () => {
  it('are all found by a list of allowed programs: what bash and dash did with 300 and more of them is recorded', () => {
    const file = path.resolve(import.meta.dirname, '../../../../test/corpora/shell/ran.jsonl');
    const texts = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text);
    expect(texts.length).toBeGreaterThan(300);
    const find = judged({ allow_programs: [ALLOWED_MARKER, ...BUILTINS] });
    expect(texts.filter((text) => find(text).length === 0)).toEqual([]);
  });
});

describe('everyday lines', () => {
  it('are alarms in at most one of a hundred', () => {
    const everyday = lines('everyday');
    expect(everyday.length).toBeGreaterThan(150);
    const find = judged(CORPUS_CONFIG.forbid === undefined ? {} : withoutSudo(CORPUS_CONFIG));
    const alarms = everyday.filter((line) => find(line).length > 0);
    expect(alarms.length / everyday.length).toBeLessThanOrEqual(0.01);
    // What a program prints is run.
    expect(alarms).toEqual(['eval "$(ssh-agent -s)" && ssh-add ~/.ssh/id_ed25519']);
  });
});

/** The rules of the corpus but for `sudo`, which everyday lines have on purpose. */
const withoutSudo = (config: JsonObject): JsonObject => ({
  ...config,
  forbid: (config.forbid as string[]).filter((kind) => kind !== 'sudo'),
});

describe('a configuration that allows programs that run others', () => {
  it.each([
    ['python3', /runs code and scripts that are not read/],
    ['/bin/bash', /runs code and scripts/],
    ['powershell.exe', /runs code and scripts/],
    ['make', /runs what files, settings or other machines say/],
    ['xargs', /runs the programs that its arguments name: they are read/],
    ['ls', undefined],
    ['sort', undefined],
  ])('is told so of %s', (program, message) => {
    const warnings = [...(shellEvaluator.warningsFor?.({ allow_programs: ['cat', program] }, USE) ?? [])];
    if (message === undefined) expect(warnings).toEqual([]);
    else {
      expect(warnings).toMatchObject([{ code: 'allows_launcher', path: ['allow_programs', 1] }]);
      expect(warnings[0]?.message).toMatch(message);
    }
  });
});

describe('subcommand', () => {
  const found = (call: JsonObject, line: string): number[] =>
    judged({ deny: [call], threshold: 0.3 })(line).map(({ score }) => score);

  it.each([
    ['git', 'push', 'git push'],
    ['git', 'push', 'git -C x push'],
    ['git', 'push', 'git -c user.name=x --git-dir y push origin'],
    ['git', 'push', 'git --no-pager push --force'],
    ['git', 'push', 'sudo git push'],
    ['git', 'remote add', 'git remote add x y'],
    ['git', 'remote add', 'git remote -v add x y'],
    ['docker', 'rm', 'docker --context x rm -f y'],
    ['docker', 'system prune', 'docker -H x system prune -a'],
    ['kubectl', 'delete', 'kubectl -n ns --context x delete pod y'],
    ['npm', 'publish', 'npm --prefix x publish'],
    ['unlisted', 'go', 'unlisted --fast go'],
  ])('of %s, %s, is found in %j', (program, subcommand, line) => {
    expect(found({ program, subcommand }, line)).toEqual([1]);
  });

  it.each([
    ['git', 'push', 'git stash push'],
    ['git', 'push', 'git commit -m push'],
    ['git', 'push', 'git log push'],
    ['git', 'remote add', 'git remote'],
    ['git', 'remote add', 'git add remote'],
    ['docker', 'rm', 'docker image rm x'],
    ['docker', 'rm', 'docker run rm'],
    ['kubectl', 'delete', 'kubectl -n delete get pods'],
  ])('of %s, %s, is not found in %j', (program, subcommand, line) => {
    expect(found({ program, subcommand }, line)).toEqual([]);
  });

  it('is less certain where only the run tells it', () => {
    expect(found({ program: 'git', subcommand: 'push' }, 'git "$x"')).toEqual([0.6]);
  });
});

describe('platform', () => {
  const kinds = (config: JsonObject, line: string): string[] => judged(config)(line).map(({ kind }) => kind);
  const NO_RM = { deny_programs: ['rm'] };

  it.each([
    'RM x',
    'rm.exe x',
    'Rm.CMD x',
    '/bin/RM x',
    "'C:\\tools\\rm.exe' x",
    'C:\\tools\\rm.exe x',
    '.\\rm.bat x',
  ])('ignores case and suffixes of what is denied by default: %j', (line) => {
    expect(kinds(NO_RM, line)).toEqual(['program_denied']);
    expect(kinds({ ...NO_RM, platform: 'windows' }, line)).toEqual(['program_denied']);
    expect(kinds({ ...NO_RM, platform: 'posix' }, line)).toEqual([]);
  });

  it('ignores only case on darwin', () => {
    expect(kinds({ ...NO_RM, platform: 'darwin' }, 'RM x')).toEqual(['program_denied']);
    expect(kinds({ ...NO_RM, platform: 'darwin' }, 'rm.exe x')).toEqual([]);
  });

  it('takes names of allowed programs as they are, unless a platform is named', () => {
    expect(kinds({ allow_programs: ['ls'] }, 'LS x')).toEqual(['program_not_allowed']);
    expect(kinds({ allow_programs: ['ls'], platform: 'any' }, 'ls.exe x')).toEqual(['program_not_allowed']);
    expect(kinds({ allow_programs: ['ls'], platform: 'darwin' }, 'LS x')).toEqual([]);
    expect(kinds({ allow_programs: ['ls'], platform: 'windows' }, 'Ls.exe x')).toEqual([]);
  });

  it.each([
    'powershell -c "rm x"',
    'powershell -NoProfile -Command "& { rm \'x\' }"',
    'cmd /c "dir & rm x"',
    'cmd.exe /s /c rm x',
    'pwsh -enc cgBtACAAeAA=',
  ])('reads texts of shells of Windows: %j', (line) => {
    expect(kinds(NO_RM, line)).toContain('program_denied');
    expect(kinds({ allow_programs: ['powershell', 'cmd', 'cmd.exe', 'pwsh', 'rm', 'dir'] }, line)).toContain(
      'unknown_program',
    );
  });

  it('says where such a text cannot be read', () => {
    expect(kinds(NO_RM, 'powershell -c "\'rm x"')).toContain('unreadable');
  });
});

describe('forms that run', () => {
  const WIPE = { deny: [{ program: 'rm', flags: ['-r', '-f'], arguments: ['/'] }] };
  it.each([
    ['rm {-r,-f} /', 1],
    ['rm -{r,f} /', 1],
    ['rm -rf {/,x}', 1],
    ['{rm,-rf,/}', 1],
    ['rm $@-rf /', 0.6],
    ['rm$IFS-rf$IFS/', 0.6],
    ['rm${IFS}-rf${IFS}/', 0.6],
    ['${x:-rm} -rf /', 0.6],
    ['${x:-rm -rf /}', 0.6],
    ['r$9m -rf /', 0.6],
    ['echo rm -rf / | xargs env', 0.9],
    ["env -S'rm -rf /'", 1],
    ["x='$(rm -rf /)'; echo ${x@P}", 0.6],
    ["echo 'rm -rf /' > x.sh; sh x.sh", 0.9],
    ["cat > x.sh <<'E'\nrm -rf /\nE\nsh x.sh", 0.9],
    ["echo 'rm -rf /' >> ~/.bashrc", 1],
  ])('are found: %j', (line, score) => {
    const scores = judged(WIPE)(line).filter(({ kind }) => kind === 'call_denied');
    expect(Math.max(0, ...scores.map((finding) => finding.score))).toBe(score);
  });
});
