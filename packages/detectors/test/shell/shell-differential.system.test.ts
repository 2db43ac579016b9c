import { describe, expect, it } from 'vitest';
import { bashVersion } from '../../../../test/support/shell-lines.js';
import { unexplainedDifferences } from './shell-differential.js';

describe.skipIf(bashVersion() === undefined)('the reader of shell texts', () => {
  it('accepts what bash -n accepts, and nothing else, with the listed exceptions', () => {
    const { unexplained, reasons, lines, accepted } = unexplainedDifferences(1, 200);
    expect(unexplained).toEqual([]);
    const explained = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    expect(explained).toBeLessThan(lines * 0.02);
    expect(accepted).toBeGreaterThan(lines / 3);
    expect(lines - accepted).toBeGreaterThan(lines / 5);
  });
});
