import { checkOptionNames } from '../settings.js';

/** The windows in which streamed text is checked. */
export interface WindowOptions {
  /** Characters (UTF-16 code units) of a window, 1 to 100,000; 400 when absent. */
  readonly maxChars?: number | undefined;
  /** Longest time that text waits before its window is sent to be checked, in milliseconds, 0 to 60,000; 500 when absent. */
  readonly maxDelayMs?: number | undefined;
  /**
   * Characters that are looked at again with the next window, 0 to 100,000; 100 when absent. So many also stay back until the next
   * window is checked, or the time is over: what begins in one window and ends in the next is found before its beginning is
   * released, if it is no longer than this.
   */
  readonly overlapChars?: number | undefined;
}

/** What text windows need. */
export interface WindowHost {
  /** The text as it may be shown: unchanged, or with changes. Rejects if it must not be. */
  readonly check: (text: string) => Promise<string>;
  /** Gets text once it is checked, in order. */
  readonly release: (text: string) => void;
  /** Called once, with why a window that time alone has ended is refused: nothing else may come to tell it. */
  readonly onFailed: (error: unknown) => void;
}

/** Text that arrives in parts, and is released once the window it is in is checked. */
export interface TextWindows {
  /** Everything that was released. */
  readonly released: string;
  /** Adds text. Resolves when the windows that it fills are checked; rejects when one is refused, and ever after. */
  push(text: string): Promise<void>;
  /** Checks and releases what waits. */
  flush(): Promise<void>;
  /** Checks the whole text, and releases what waits. It may change only what is not released. */
  end(checkWhole: (text: string) => Promise<string>): Promise<void>;
  /** Releases nothing any more. */
  cancel(): void;
}

/** Text was released before a control changed it. */
export class ReleasedTextError extends Error {
  override readonly name = 'ReleasedTextError';
}

/**
 * Creates windows over a text. Nothing is released that is not checked. A check sees the end of what was released and
 * everything that waits.
 */
export function createTextWindows(host: WindowHost, options: WindowOptions = {}): TextWindows {
  const { maxChars, maxDelayMs, overlapChars: overlap } = windowSettings(options);
  let released = '';
  /** What arrived and is not released, as it arrived. */
  let waiting = '';
  /** Length of the part of `waiting` that a window had in it. */
  let seen = 0;
  /** Length of the part of `waiting` that may be shown as it is. */
  let cleared = 0;
  let timer: NodeJS.Timeout | undefined;
  let failure: { readonly error: unknown } | undefined;
  let working: Promise<void> = Promise.resolve();

  /** One at a time: a window begins where the one before it ended. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = working.then(async () => {
      if (failure !== undefined) throw failure.error;
      try {
        await work();
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    });
    working = done.catch(() => {});
    return done;
  }

  function startTimer(): void {
    if (timer !== undefined || failure !== undefined || (complete(waiting).length === seen && cleared === 0))
      return;
    timer = setTimeout(() => {
      timer = undefined;
      inTurn(() => checkWindow('time')).catch(host.onFailed);
    }, maxDelayMs);
  }

  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  async function checkWindow(endedBy: 'length' | 'time' | 'caller'): Promise<void> {
    const text = endedBy === 'caller' ? waiting : complete(waiting);
    if (text.length === seen && endedBy !== 'caller') return put(waiting.slice(0, cleared), cleared);
    const shown = await allowed(host.check, whole(released, Math.max(0, released.length - overlap)), text);
    seen = text.length;
    cleared = 0;
    if (endedBy === 'caller') return put(shown, text.length);
    if (shown === text) {
      cleared = text.length;
      const length = endedBy === 'time' ? cleared : before(text, Math.max(0, cleared - overlap));
      return put(text.slice(0, length), length);
    }
    // What a control changed at the end may go on in what has not arrived yet: then all of it is to be changed.
    const { prefix, suffix } = common(text, shown);
    if (suffix < overlap || suffix === 0) return put(text.slice(0, prefix), prefix);
    const length = before(text, text.length - overlap);
    cleared = text.length;
    put(shown.slice(0, shown.length - (text.length - length)), length);
  }

  /** What of `text` may be shown after `shown`, which was released. */
  async function allowed(check: WindowHost['check'], shown: string, text: string): Promise<string> {
    const result = await check(shown + text);
    if (failure !== undefined) throw failure.error;
    if (result.startsWith(shown)) return result.slice(shown.length);
    throw new ReleasedTextError('A control changes text that was released already.');
  }

  /** Releases `text` in place of the first characters that wait. */
  function put(text: string, length: number): void {
    waiting = waiting.slice(length);
    seen -= length;
    cleared = Math.max(0, cleared - length);
    released += text;
    stopTimer();
    if (text !== '') host.release(text);
    startTimer();
  }

  return {
    get released() {
      return released;
    },
    async push(text) {
      if (failure !== undefined) throw failure.error;
      waiting += text;
      startTimer();
      if (waiting.length - seen >= maxChars) await inTurn(() => checkWindow('length'));
    },
    flush: () => inTurn(async () => (waiting === '' ? undefined : checkWindow('caller'))),
    end: (checkWhole) =>
      inTurn(async () => {
        stopTimer();
        const text = waiting;
        put(await allowed(checkWhole, released, text), text.length);
      }),
    cancel() {
      stopTimer();
      failure ??= { error: new Error('the text was cancelled') };
    },
  };
}

/** The settings of windows. Throws a RangeError for one that is out of its range. */
export function windowSettings(options: WindowOptions): Required<{ [Name in keyof WindowOptions]: number }> {
  checkOptionNames('windows', options, ['maxChars', 'maxDelayMs', 'overlapChars']);
  return {
    maxChars: bounded('maxChars', options.maxChars ?? 400, 1, 100_000),
    maxDelayMs: bounded('maxDelayMs', options.maxDelayMs ?? 500, 0, 60_000),
    overlapChars: bounded('overlapChars', options.overlapChars ?? 100, 0, 100_000),
  };
}

/** The text without the first half of a character (a surrogate) at its end, whose other half has not arrived. */
function complete(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}

/** The text from a position on, but not from inside a character. */
function whole(text: string, start: number): string {
  return text.slice(isInside(text, start) ? start + 1 : start);
}

/** A position that is not inside a character. */
function before(text: string, position: number): number {
  return isInside(text, position) ? position - 1 : position;
}

/** Lengths of what two texts have in common at the start, and at the end. */
function common(one: string, other: string): { readonly prefix: number; readonly suffix: number } {
  const most = Math.min(one.length, other.length);
  let prefix = 0;
  while (prefix < most && one[prefix] === other[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < most - prefix && one.at(-1 - suffix) === other.at(-1 - suffix)) suffix += 1;
  return { prefix: before(one, prefix), suffix };
}

function isInside(text: string, position: number): boolean {
  return /[\ud800-\udbff]/.test(text.charAt(position - 1)) && /[\udc00-\udfff]/.test(text.charAt(position));
}

function bounded(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`windows: ${name} must be a whole number from ${least} to ${most}, not ${value}`);
}
