import type { CompiledDetector } from '../detector/detector.js';
import { piiDetector } from '../pii/pii.js';
import { secretsDetector } from '../secrets/secrets.js';

/** Less certain findings count too: more than a control would match. */
const LEAST_SCORE = 0.3;

let detectors: readonly CompiledDetector[] | undefined;

/**
 * Reports where a text looks like a secret or personal data as it is written, without what is encoded there; ends are
 * exclusive. `place` is as for detectors. Throws if the text cannot be searched.
 */
export function findSensitive(
  text: string,
  place: string,
  found: (start: number, end: number) => void,
): void {
  detectors ??= [secretsDetector(LEAST_SCORE), piiDetector(LEAST_SCORE)];
  for (const { detect, threshold } of detectors) {
    detect(text, ({ score, start, end }) => score >= threshold && found(start, end), nothing, place);
  }
}

const nothing = (): void => {};
