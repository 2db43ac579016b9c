import { Worker } from 'node:worker_threads';
import { SupervisedWorker } from '../../process/supervised-worker.js';

/** A reply of the thread; with `failure`, the request was not carried out. */
interface ThreadReply {
  readonly id: number;
  readonly failure?: string;
}

/** A thread that does the work of a sink. */
export interface SinkThread<Reply> {
  /** Rejects with what the thread gives as the reason, or when it ends before it answers. */
  request(request: object): Promise<Reply>;
  /** Ends the thread in order, or in the middle of its work if that takes longer than `limitMs`. Never rejects. */
  close(limitMs: number): Promise<void>;
}

export interface SinkThreadOptions {
  /** The module of the thread, which answers each `{ id, … }` with `{ id, … }` and ends after the message `close`. */
  readonly entry: URL;
  readonly data: object;
  /** Texts that must not be in a reason. */
  readonly secrets: readonly string[];
}

export function startSinkThread<Reply>({ entry, data, secrets }: SinkThreadOptions): SinkThread<Reply> {
  let ended = false;
  const worker = new SupervisedWorker<ThreadReply>({
    start: () => new Worker(entry, { workerData: data }),
    onEnd({ error: cause }) {
      ended = true;
      const error = new Error('the thread of the sink ended', cause === undefined ? {} : { cause });
      for (const answered of worker.unanswered.values()) answered(error);
    },
  });
  return {
    request: (request) =>
      new Promise<Reply>((resolve, reject) => {
        if (ended) return reject(new Error('the thread of the sink has ended'));
        worker.request(request, (reply) => {
          if (reply instanceof Error) reject(reply);
          else if (reply.failure !== undefined) reject(new Error(withoutSecrets(reply.failure, secrets)));
          else resolve(reply as Reply);
        });
      }),
    async close(limitMs) {
      if (ended) return;
      const timer = setTimeout(() => worker.kill(new Error('the sink was closed')), limitMs);
      await worker.close('close');
      clearTimeout(timer);
    },
  };
}

/** A text in which secrets are replaced by stars. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (masked, secret) => (secret === '' ? masked : masked.replaceAll(secret, '***')),
    text,
  );
}
