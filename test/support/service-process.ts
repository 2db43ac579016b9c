import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventStoreOf } from './clickhouse.js';
import { PATIENT_SETTINGS } from './patient-settings.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The service as JavaScript, for processes of its own. */
export interface CompiledService {
  /** Path of the main module. */
  readonly main: string;
  remove(): Promise<void>;
}

/** Variable with the folder of the compiled service that the whole test run shares. */
export const COMPILED_FOLDER = 'TEST_COMPILED_FOLDER';

/** Variable with the folder of the same service in few files. */
export const BUNDLED_FOLDER = 'TEST_BUNDLED_FOLDER';

/** The service that the whole test run shares, in few files, which starts faster: to be run, not to be read or changed. */
export const compiled: CompiledService = {
  get main() {
    return path.join(sharedFolder(BUNDLED_FOLDER), 'main.js');
  },
  remove: async () => {},
};

/** The same as it is shipped, a file for each module: for tests that look at files, modules or stacks. */
export const compiledTree: CompiledService = {
  get main() {
    return mainIn(sharedFolder(COMPILED_FOLDER));
  },
  remove: async () => {},
};

function sharedFolder(variable: string): string {
  const folder = process.env[variable];
  if (folder !== undefined) return folder;
  throw new Error('there is none: run with test/support/packages-global-setup.ts');
}

/** The service that the test run shares, or one for this test alone where the run has none. */
export async function compileService(): Promise<CompiledService> {
  return process.env[BUNDLED_FOLDER] === undefined ? compileOwnService() : compiled;
}

/** The service in a folder that the test may change. */
export async function compileOwnService(): Promise<CompiledService> {
  const shared = process.env[COMPILED_FOLDER];
  const folder = shared === undefined ? await compileInto() : await copyOfService(shared);
  return { main: mainIn(folder), remove: () => rm(folder, { recursive: true, force: true }) };
}

const mainIn = (folder: string) => path.join(folder, 'src', 'main.js');

/** Copies the service of a folder, as a compiler has left it there, into a new one below `dist`. Returns the folder. */
export async function copyOfService(from: string): Promise<string> {
  const folder = await mkdtemp(path.join(ROOT, 'dist', 'test-'));
  for (const part of ['src', 'gen', 'packages']) {
    await cp(path.join(from, part), path.join(folder, part), { recursive: true });
  }
  return folder;
}

/** Compiles the service into a new folder below `dist`, from where it finds its packages. Returns the folder. */
export async function compileInto(): Promise<string> {
  await mkdir(path.join(ROOT, 'dist'), { recursive: true });
  const folder = await mkdtemp(path.join(ROOT, 'dist', 'test-'));
  const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const configuration = path.join(ROOT, 'tsconfig.build.json');
  await promisify(execFile)(process.execPath, [
    compiler,
    '-p',
    configuration,
    '--outDir',
    folder,
    '--noCheck',
  ]);
  return folder;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A service in a process and a working directory of its own. */
export interface ServiceProcess {
  readonly process: ChildProcess;
  readonly directory: string;
  /** Everything written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Fulfilled when the process is gone and everything it wrote was read. */
  readonly ended: Promise<Exit>;
  /** The first match in what it writes to stdout; rejects when it ends without one. */
  output(pattern: RegExp): Promise<RegExpExecArray>;
  /** Base address once it listens, for example `http://127.0.0.1:40123`. */
  listening(): Promise<string>;
  /** Ends it if it runs, and removes its directory. */
  dispose(): Promise<void>;
}

export interface SpawnOptions {
  readonly environment?: Record<string, string>;
  readonly arguments?: readonly string[];
  /** Prepares the working directory. */
  readonly prepare?: (directory: string) => Promise<void>;
  /** Gives it a process group of its own, which its workers belong to: what a terminal sends its signals to. */
  readonly ownGroup?: boolean;
}

/**
 * V8 compiles and collects in one more thread instead of four, and compiles WebAssembly once, quickly: a start and the two
 * seconds after it take two thirds of the processor time, because most processes of tests end before what is compiled a
 * second time is used.
 */
const FLAGS = ['--v8-pool-size=1', '--liftoff-only'];

/** Runs the service on a free port with nothing in its environment but what is given. */
export async function spawnService(
  service: CompiledService,
  options: SpawnOptions = {},
): Promise<ServiceProcess> {
  const directory = await mkdtemp(path.join(tmpdir(), 'service-process-'));
  await options.prepare?.(directory);
  const words = [...FLAGS, service.main, ...(options.arguments ?? [])];
  return spawnCommand(process.execPath, words, options.environment ?? {}, directory, options.ownGroup);
}

/** Sends a signal to all processes of a group, as a terminal does; to none when they have ended. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Runs a command that starts the service, in a folder that goes with it. */
export function spawnCommand(
  command: string,
  words: readonly string[],
  environment: Record<string, string>,
  directory: string,
  ownGroup = false,
): ServiceProcess {
  const child = spawn(command, words, {
    cwd: directory,
    detached: ownGroup,
    env: {
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: '0',
      ...PATIENT_SETTINGS,
      ...eventStoreOf(environment.DATABASE_URL ?? directory),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  let hasEnded = false;
  const ended = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true;
      resolve({ code, signal });
    });
  });

  function output(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(stdout);
        if (found !== null) resolve(found);
        else if (hasEnded) reject(new Error(`no ${pattern} in:\n${stdout}${stderr}`));
      };
      look();
      child.stdout.on('data', look);
      child.once('close', look);
    });
  }

  return {
    process: child,
    directory,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    output,
    listening: async () => (await output(/"?address"?: ?"(https?:\/\/[^"]+)"/))[1] ?? '',
    async dispose() {
      if (!hasEnded) child.kill('SIGKILL');
      if (ownGroup) signalGroup(child, 'SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
