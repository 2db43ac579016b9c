import { readFile, stat } from 'node:fs/promises';

/**
 * Interval of the checks, in milliseconds. Files are polled: events of the file system are missing on network
 * file systems, and for the links by which Kubernetes replaces mounted secrets.
 */
const POLL_MS = 200;
/** A file changed this recently, in milliseconds, is read again: its next change could have the same time. */
const RECENT_MS = 2_000;

export interface WatchedFilesOptions {
  readonly files: readonly string[];
  /** Contents that are in use already, in the order of the files. */
  readonly initial: readonly Buffer[];
  /** Uses new contents, in the order of the files. Throws an Error if they cannot be used. */
  readonly apply: (contents: readonly Buffer[]) => void;
  /** Called once for contents that cannot be used or read, when they were the same at two checks in a row. */
  readonly onProblem: (error: unknown) => void;
  readonly pollMs?: number;
}

/** Files that are read again whenever they change. */
export interface WatchedFiles {
  /** Checks now, whatever the time of the files. Resolves when new contents are in use. */
  check(): Promise<void>;
  stop(): void;
}

/** What was found at a check: the contents, or why there are none. */
type Found = { readonly contents: readonly Buffer[] } | { readonly error: unknown };

/** Watches files until `stop`. Contents that cannot be used change nothing: files may be half written. */
export function watchFiles(options: WatchedFilesOptions): WatchedFiles {
  const { files, apply, onProblem, pollMs = POLL_MS } = options;
  let used = options.initial;
  let stamp = '';
  /** Contents that could not be used, at the last check. */
  let refused: Found | null = null;
  let isTold = false;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  async function look(isForced: boolean): Promise<void> {
    const before = await stampOf(files);
    if (!isForced && before.text === stamp && !before.isRecent && refused === null) return;
    stamp = before.text;
    const found = await readAll(files);
    if (isStopped) return;
    if ('contents' in found && sameContents(found.contents, used)) {
      refused = null;
      return;
    }
    const isRepeated = refused !== null && sameFound(refused, found);
    if (isRepeated && isTold && !isForced) return;
    try {
      if ('error' in found) throw found.error;
      apply(found.contents);
      used = found.contents;
      refused = null;
    } catch (error) {
      refused = found;
      isTold = isRepeated || isForced;
      if (isTold) onProblem(error);
    }
  }

  /** One check after the other. */
  function check(isForced: boolean): Promise<void> {
    running = running.then(() => (isStopped ? undefined : look(isForced))).catch(onProblem);
    return running;
  }

  function next(): void {
    if (isStopped) return;
    timer = setTimeout(() => void check(false).then(next), pollMs).unref();
  }
  next();
  return {
    check: () => check(true),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

async function stampOf(files: readonly string[]): Promise<{ text: string; isRecent: boolean }> {
  const parts: string[] = [];
  let isRecent = false;
  for (const file of files) {
    try {
      // Follows links, so that a replaced link is a change.
      const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(file, { bigint: true });
      parts.push([dev, ino, size, mtimeNs, ctimeNs].join(' '));
      if (Math.abs(Date.now() - Number(ctimeMs)) < RECENT_MS) isRecent = true;
    } catch (error) {
      parts.push(codeOf(error));
    }
  }
  return { text: parts.join('\n'), isRecent };
}

async function readAll(files: readonly string[]): Promise<Found> {
  try {
    const contents: Buffer[] = [];
    for (const file of files) contents.push(await readFile(file));
    return { contents };
  } catch (error) {
    return { error };
  }
}

function sameFound(one: Found, other: Found): boolean {
  if ('error' in one) return 'error' in other && codeOf(one.error) === codeOf(other.error);
  return 'contents' in other && sameContents(one.contents, other.contents);
}

function sameContents(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.every((content, index) => other[index]?.equals(content) === true);
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? error);
}
