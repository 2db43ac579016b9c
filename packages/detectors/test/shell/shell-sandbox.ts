import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ALLOWED_MARKER, MARKERS } from './shell-battery.js';

/** An account without any rights. */
const NOBODY = 65_534;
/** Texts of one run of the driver; each has a second of its own. */
const BATCH = 500;
const TOOLS = ['/usr/bin/unshare', '/usr/bin/setpriv', '/usr/bin/prlimit', '/usr/bin/timeout'];

/** Whether texts can be run here: as root, who gives up all rights, with the tools that take them away. */
export const canRunTexts = (shell: string): boolean =>
  process.getuid?.() === 0 && [...TOOLS, shell, '/bin/bash'].every((file) => existsSync(file));

/**
 * Runs each text with a shell, as an account without rights, in namespaces of its own (no network, no other processes), with
 * limits, an empty environment, and a `PATH` of programs that only write their names. Returns what each text ran.
 */
export function runTexts(shell: string, texts: readonly string[]): string[][] {
  const folder = mkdtempSync(path.join(tmpdir(), 'shell-battery-'));
  try {
    const [bin, work, log] = ['bin', 'work', 'log'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [folder, bin, work]) {
      mkdirSync(each, { recursive: true });
      chmodSync(each, 0o755);
    }
    writeFileSync(log, '');
    for (const each of [work, log]) chownSync(each, NOBODY, NOBODY);
    for (const name of [ALLOWED_MARKER, ...MARKERS]) {
      writeFileSync(path.join(bin, name), `#!/bin/sh\necho ${name} >> ${log}\n`, { mode: 0o755 });
    }
    const ran: string[][] = [];
    for (let from = 0; from < texts.length; from += BATCH) {
      ran.push(...runBatch(shell, texts.slice(from, from + BATCH), bin, work, log));
    }
    return ran;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runBatch(
  shell: string,
  texts: readonly string[],
  bin: string,
  work: string,
  log: string,
): string[][] {
  const driver =
    'while IFS= read -r -d "" text; do : > "$LOG"; ' +
    '/usr/bin/timeout -k 1 2 "$SHELL_PATH" -c "$text" < /dev/null > /dev/null 2>&1; ' +
    'ran=$(< "$LOG"); echo "${ran//$' +
    "'\\n'" +
    '/ }"; done';
  const limits = ['--cpu=120', '--fsize=1000000', '--nproc=200', '--as=500000000', '--nofile=64', '--core=0'];
  const { status, stdout, stderr, error } = spawnSync(
    '/usr/bin/unshare',
    [
      ...['--net', '--ipc', '--uts', '--mount', '--pid', '--fork', '--kill-child', '--'],
      ...['/usr/bin/prlimit', ...limits, '--'],
      ...['/usr/bin/setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'],
      ...['--inh-caps=-all', '--bounding-set=-all', '--'],
      ...['/bin/bash', '--norc', '--noprofile', '-c', driver],
    ],
    {
      cwd: work,
      env: { PATH: bin, LOG: log, SHELL_PATH: shell },
      input: texts.map((text) => `${text}\0`).join(''),
      maxBuffer: 10_000_000,
      timeout: 600_000,
    },
  );
  if (status !== 0) throw new Error(`the sandbox ended with ${status ?? error}: ${stderr}`);
  return stdout
    .toString()
    .split('\n')
    .slice(0, texts.length)
    .map((line) => [...new Set(line.split(' ').filter((name) => name !== ''))]);
}
