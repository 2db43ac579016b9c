import { readFileSync } from 'node:fs';

/** A start opens some 450 files; each connection is one more. */
const FEW_OPEN_FILES = 1_024;

/** A stack trace helps with programming errors; for a busy port or a wrong path it only hides the message. */
export function isOurMistake(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

/** The message of an error and of its causes. */
export function explanation(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error);
  const message = error.message || (error as NodeJS.ErrnoException).code || error.name;
  return error.cause === undefined ? message : `${message} (${explanation(error.cause)})`;
}

/** Drivers also throw plain objects and use them as causes. */
function textOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  const { originalMessage, message, kind } = thrown as Record<string, unknown>;
  const text = [originalMessage, message, kind].find((each) => typeof each === 'string');
  return text === undefined ? JSON.stringify(thrown) : String(text);
}

/**
 * What to do where a start may have failed because the process may open few files, which errors do not always say: modules, for
 * example, cannot be found then. `limits` is the text of /proc/self/limits, which Linux has.
 */
export function openFilesAdvice(limits: string = LIMITS): string {
  const most = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (most >= FEW_OPEN_FILES) return '';
  return `. The process may open ${most} files, which may be the reason: allow ${FEW_OPEN_FILES} or more (ulimit -n, LimitNOFILE=)`;
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/** Read at once: it is a file, too. */
const LIMITS = limitsOfProcess();
