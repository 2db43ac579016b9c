import type { Progress } from '@modelcontextprotocol/client';
import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server';
import type { Approval } from '../../client/src/index.js';
import { exactProgress } from './exact-message.js';

/** Between two notes of progress of a call that waits for an approval. */
const WAIT_NOTE_MS = 5_000;
/** Notes of one call that are checked one after the other; further ones are dropped. */
const MAX_WAITING = 1_000;

/** A text of an upstream beside a result. */
export type Note = Readonly<Record<string, unknown>>;

/** Passes on to a caller what an upstream says while it works on a call, in its order. */
export interface Notes {
  readonly progress: (progress: Progress) => void;
  readonly log: (params: Note) => void;
  /** Resolves when all that was said so far is passed on or dropped. */
  passed(): Promise<void>;
}

/** `check` tells what a caller may get of a note: undefined for nothing. */
export function createNotes(ctx: ServerContext, check: (note: Note) => Promise<Note | undefined>): Notes {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const add = (work: () => Promise<void>): void => {
    if (waiting >= MAX_WAITING) return;
    waiting += 1;
    last = last
      .then(work)
      // A note that cannot be checked is dropped, and a caller that has gone is told by the signal of its call.
      .catch(() => {})
      .finally(() => {
        waiting -= 1;
      });
  };
  return {
    progress(params) {
      const { message } = params;
      const progress = exactProgress(params, 'progress') ?? params.progress;
      const total = exactProgress(params, 'total');
      const numbers = { progress, ...(total === undefined ? {} : { total }) };
      add(async () => {
        const checked = message === undefined ? undefined : await check({ ...numbers, message });
        const text = checked?.message;
        await tellProgress(ctx, { ...numbers, ...(typeof text === 'string' ? { message: text } : {}) });
      });
    },
    log({ level, logger, data }) {
      add(async () => {
        const note = await check({ level, data, ...(logger === undefined ? {} : { logger }) });
        if (note === undefined) return;
        await ctx.mcpReq.log(note.level as LoggingLevel, note.data, note.logger as string | undefined);
      });
    },
    passed: () => last,
  };
}

/** Notes of progress while a call waits for a person, if the caller wants progress: they keep its time limit from ending. */
export function createWaitNote(ctx: ServerContext): { begin(approval: Approval): void; end(): void } {
  let timer: ReturnType<typeof setInterval> | undefined;
  const end = (): void => clearInterval(timer);
  return {
    end,
    begin({ id }) {
      if (ctx.mcpReq._meta?.progressToken === undefined) return;
      end();
      const began = performance.now();
      // Progress of the upstream begins at any number: numbers below 1 come before it.
      const tell = (): void => {
        const waited = (performance.now() - began) / 1_000;
        const message = `waits for a person to approve it (approval ${id})`;
        tellProgress(ctx, { progress: waited / (waited + 3_600), message }).catch(() => {});
      };
      tell();
      timer = setInterval(tell, WAIT_NOTE_MS);
    },
  };
}

async function tellProgress(ctx: ServerContext, progress: Progress): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await ctx.mcpReq.notify({ method: 'notifications/progress', params: { ...progress, progressToken } });
}
