import { expect, it } from 'vitest';
import { TotalKind } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { totalText } from '../../../packages/dashboard/src/events/total-text.js';

it.each([
  [0n, TotalKind.EXACT, '0'],
  [9_731n, TotalKind.EXACT, '9,731'],
  [12_345_678n, TotalKind.EXACT, '12,345,678'],
  // An older server does not say what it is: it is exact then.
  [12_345n, TotalKind.UNSPECIFIED, '12,345'],
  [10_001n, TotalKind.ESTIMATE, 'about 10 thousand'],
  [1_234_567n, TotalKind.ESTIMATE, 'about 1.2 million'],
  [3_000_000_000n, TotalKind.ESTIMATE, 'about 3 billion'],
])('a total of %s of the kind %s is shown as %s', (eventTotal, totalKind, text) => {
  expect(totalText({ eventTotal, totalKind })).toBe(text);
});
