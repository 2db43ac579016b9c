import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod/mini';
import { CliError, messageOf } from './errors.js';
import type { Surroundings } from './surroundings.js';

const tokenSchema = z.object({
  value: z.string(),
  /** Seconds since 1970. */
  expires_at: z.optional(z.number()),
});

const contextSchema = z.object({
  server: z.string(),
  key: z.optional(z.string()),
  token: z.optional(tokenSchema),
});

const contextsSchema = z.object({
  current: z.optional(z.string()),
  contexts: z.record(z.string(), contextSchema),
});

/** The servers that the user has logged in to. */
export type Contexts = z.infer<typeof contextsSchema>;
export type SavedContext = z.infer<typeof contextSchema>;

const OWN_ONLY = 0o600;

/** The file with the contexts (https://specifications.freedesktop.org/basedir-spec/latest/). */
export function contextsFile({ XDG_CONFIG_HOME, HOME }: Surroundings['env']): string {
  const base =
    XDG_CONFIG_HOME !== undefined && path.isAbsolute(XDG_CONFIG_HOME)
      ? XDG_CONFIG_HOME
      : path.join(HOME ?? homedir(), '.config');
  return path.join(base, 'control-enforcement', 'contexts.json');
}

/** The contexts of the user; none if there is no file yet. */
export async function readContexts(
  env: Surroundings['env'],
  warn: (text: string) => Promise<void>,
): Promise<Contexts> {
  const file = contextsFile(env);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} };
    throw new CliError(`cannot read ${file}: ${messageOf(error)}`);
  }
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    await warn(`${file} has keys, and others can read it; run chmod 600 ${file}`);
  }
  try {
    return contextsSchema.parse(JSON.parse(text));
  } catch {
    throw new CliError(`${file} is damaged`, 'Remove it, and log in again: control-enforcement login.');
  }
}

/** Replaces the file, which only the user can read. */
export async function writeContexts(env: Surroundings['env'], contexts: Contexts): Promise<string> {
  const file = contextsFile(env);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  try {
    await writeFile(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: OWN_ONLY, flag: 'wx' });
    await chmod(next, OWN_ONLY);
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
  return file;
}
