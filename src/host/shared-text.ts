import { TokenBucket } from './admission/token-bucket.js';

/**
 * Time that may be spent at once on a text, and in each second after that, in milliseconds. Single readers always get a
 * new text; many share one of a moment ago: about one a second is made for them.
 */
const BURST_MS = 250;
const MS_PER_SECOND = 5;

/**
 * Makes a text that takes long, as often as there is time for it; all who ask for more get the last one, and those who ask
 * while it is made get the same. `now` is in milliseconds and never goes back.
 */
export function sharedText(make: () => Promise<string>, now: () => number): () => Promise<Buffer> {
  const time = new TokenBucket(MS_PER_SECOND, BURST_MS, now());
  let last: Promise<Buffer> | null = null;
  let isBeingMade = false;
  return () => {
    const startMs = now();
    if (last !== null && (isBeingMade || time.waitMs(1, startMs) > 0)) return last;
    isBeingMade = true;
    const made = make().then((text) => Buffer.from(text));
    last = made;
    const done = () => {
      isBeingMade = false;
      time.owe(now() - startMs, now());
    };
    made.then(done, () => {
      done();
      // A failure is not shared with those who ask later.
      if (last === made) last = null;
    });
    return made;
  };
}
