import type { ConnectError } from '@connectrpc/connect';
import type { Grant } from '../../contract/call/grant.js';
import { httpStatusOf, ServiceError } from '../../contract/errors/service-error.js';
import { toConnectError } from '../wire/error-status.js';
import type { DueTimes } from './due-times.js';

/** How many questions in a row may stay without a decision before a call ends. */
const MAX_UNDECIDED = 12;

/**
 * Asks the service that made a grant again and again, and calls `end` with its refusal, or when it has not decided for
 * some time: then nothing is known about the rights of the call. Returns a function that stops this.
 */
export function renewing(
  renewal: NonNullable<Grant['renewal']>,
  due: Pick<DueTimes, 'after'>,
  end: (reason: ConnectError) => void,
): () => void {
  let undecided = 0;
  let isStopped = false;
  let cancel = wait();

  function wait(): () => void {
    return due.after(renewal.everyMs, () => void ask());
  }

  async function ask(): Promise<void> {
    try {
      await renewal.ask();
      undecided = 0;
    } catch (error) {
      undecided += 1;
      if (isStopped) return;
      if (isDecided(error) || undecided >= MAX_UNDECIDED) return end(toConnectError(error));
    }
    if (!isStopped) cancel = wait();
  }

  return () => {
    isStopped = true;
    cancel();
  };
}

/** Whether an error is a decision, and not that there is none. */
function isDecided(error: unknown): boolean {
  return error instanceof ServiceError && httpStatusOf(error) < 500;
}
