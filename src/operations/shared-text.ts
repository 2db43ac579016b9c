import { TokenBucket } from '../transport/admission/token-bucket.js';

/** Times that a text is made at once, and in each second after that. */
const BURST = 100;
const PER_SECOND = 1;

/**
 * Makes a text that takes long for a reader that comes now and then; many readers share one that is made once a second.
 * Those who ask while it is made get the same. `now` is in milliseconds and never goes back.
 */
export function sharedText(make: () => Promise<string>, now: () => number): () => Promise<Buffer> {
  const turns = new TokenBucket(PER_SECOND, BURST, now());
  let last: Promise<Buffer> | null = null;
  let isBeingMade = false;
  return () => {
    if (last !== null && (isBeingMade || !turns.take(1, now()))) return last;
    isBeingMade = true;
    const made = make().then((text) => Buffer.from(text));
    last = made;
    made.then(
      () => {
        isBeingMade = false;
      },
      () => {
        isBeingMade = false;
        // A failure is not shared with those who ask later.
        if (last === made) last = null;
      },
    );
    return made;
  };
}
