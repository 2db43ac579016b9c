import type { Upstream } from './upstream.js';
import type { ListKind } from './upstream-client.js';

/** The lists of a server by their members in a result: their method, and what a server must be able to do to have one. */
export const LISTS = {
  tools: { kind: 'tools', method: 'tools/list' },
  prompts: { kind: 'prompts', method: 'prompts/list' },
  resources: { kind: 'resources', method: 'resources/list' },
  resourceTemplates: { kind: 'resources', method: 'resources/templates/list' },
} as const satisfies Record<string, { readonly kind: ListKind; readonly method: string }>;
export type ListName = keyof typeof LISTS;

interface Entry<T> {
  readonly value: Promise<T>;
  readonly at: number;
}

/** Lists of upstreams as they were a short time ago. `onLate`: a list has come after callers had waited for it. */
export function createListCache(maxAgeMs: number, onLate: (kind: ListKind) => void) {
  const known = new Map<string, Entry<unknown>>();
  /** What was told last, which is listed while a server is silent. */
  const last = new Map<string, unknown>();

  /** What was read a short time ago, or reads it. Calls at the same time read it once, and wait for it no longer than they may. */
  function recent<T>(upstream: Upstream, member: ListName, read: () => Promise<T>): Promise<T> {
    const key = `${upstream.name} ${member}`;
    let entry = known.get(key) as Entry<T> | undefined;
    if (entry === undefined || performance.now() - entry.at >= maxAgeMs) {
      const began = performance.now();
      const value = read();
      entry = { value, at: began };
      known.set(key, entry);
      value.then(
        (found) => {
          last.set(key, found);
          if (performance.now() - began > upstream.answerMs) onLate(LISTS[member].kind);
        },
        () => {
          if (known.get(key)?.value === value) known.delete(key);
        },
      );
    }
    return inTime(entry.value, entry.at + upstream.answerMs, upstream);
  }

  const lastOf = <T>(upstream: Upstream, member: ListName): T | undefined =>
    last.get(`${upstream.name} ${member}`) as T | undefined;

  /** Reads a list again when it is needed next. */
  function forget(upstream: string, kind: ListKind): void {
    for (const [member, list] of Object.entries(LISTS))
      if (list.kind === kind) known.delete(`${upstream} ${member}`);
  }

  return { recent, lastOf, forget };
}

/** A value that callers wait for until a time. */
async function inTime<T>(value: Promise<T>, until: number, { silent }: Upstream): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(silent()), Math.max(until - performance.now(), 0));
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
