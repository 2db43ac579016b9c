import { Worker } from 'node:worker_threads';
import { SupervisedWorker } from './supervised-worker.js';
import type { Reply } from './thread-requests.js';

/** A thread that answers requests. */
export interface RequestThread<Answer = unknown> {
  /** Rejects with what the thread gives as the reason, or when it ends before it answers. */
  request(request: object): Promise<Answer>;
  /** Ends the thread in order, or in the middle of its work if that takes longer than `limitMs`. Never rejects. */
  close(limitMs: number): Promise<void>;
}

export interface RequestThreadOptions {
  /** The module of the thread, which answers each `{ id, … }` with `{ id, … }` and ends after the message `close`. */
  readonly entry: URL;
  /** Its `workerData`. */
  readonly data: object;
  /** Texts that must not be in a reason. */
  readonly secrets: readonly string[];
}

export function startRequestThread<Answer = unknown>(options: RequestThreadOptions): RequestThread<Answer> {
  const { entry, data, secrets } = options;
  let ended = false;
  const worker = new SupervisedWorker<Reply>({
    start: () => new Worker(entry, { workerData: data }),
    onEnd({ error: cause }) {
      ended = true;
      const error = new Error('the thread ended', cause === undefined ? {} : { cause });
      for (const answered of worker.unanswered.values()) answered(error);
    },
  });
  return {
    request: (request) =>
      new Promise<Answer>((resolve, reject) => {
        if (ended) return reject(new Error('the thread has ended'));
        worker.request(request, (reply) => {
          if (reply instanceof Error) reject(reply);
          else if (reply.failure !== undefined) reject(new Error(withoutSecrets(reply.failure, secrets)));
          else resolve(reply as Answer);
        });
      }),
    async close(limitMs) {
      if (ended) return;
      const timer = setTimeout(() => worker.kill(new Error('the thread was closed')), limitMs);
      await worker.close('close');
      clearTimeout(timer);
    },
  };
}

/** A text in which secrets are replaced by stars. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (masked, secret) => (secret === '' ? masked : masked.replaceAll(secret, '***')),
    text,
  );
}
