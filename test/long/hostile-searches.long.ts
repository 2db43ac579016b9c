import { expect, it } from 'vitest';
import { compilePattern } from '../../packages/linear-text/src/index.js';
import { hostileSearches } from '../support/hostile-searches.js';

const LENGTHS = [1_000, 4_000, 20_000, 100_000, 1_000_000];

it('reports how long hostile searches hold up everything else', { timeout: 300_000 }, () => {
  let worst = 0;
  for (const { name, pattern, text } of hostileSearches) {
    const compiled = compilePattern(pattern);
    const answers = LENGTHS.map((length) => {
      // Most of the patterns end in the first character, so that none is answered by looking for it.
      const value = `!${text(length)}`;
      const before = process.cpuUsage();
      let answer: string;
      try {
        answer = String(compiled.test(value));
      } catch (error) {
        answer = error instanceof Error && error.message.includes('too much') ? 'refused' : String(error);
      }
      // Processor time: what other programs on the machine take does not count.
      const { user, system } = process.cpuUsage(before);
      const milliseconds = (user + system) / 1_000;
      worst = Math.max(worst, milliseconds);
      expect(answer).toMatch(/^(?:true|false|refused)$/);
      return `${answer} ${milliseconds.toFixed(1)}`;
    });
    console.log(`${name}, texts of ${LENGTHS.join(', ')}: ${answers.join(', ')} ms`);
  }
  console.log(`worst search: ${worst.toFixed(1)} ms`);
});
