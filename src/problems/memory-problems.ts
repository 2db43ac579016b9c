import type { MemoryTroubles } from '../memory/memory.js';
import { counted, ofService, type Problem } from './problem.js';

/** What is wrong with the memory of controls, as the process that is asked knows it. */
export function memoryProblems({ problem, volatility, damagedKeys, evicts }: MemoryTroubles): Problem[] {
  const found: Problem[] = [];
  if (problem !== null) {
    const detail = `Controls with memory decide by their on_store_error until it does: ${problem}`;
    found.push(ofService('memory_down', 'critical', 'The store of memory does not answer', detail));
  }
  if (damagedKeys > 0) {
    const title = `What is kept for ${counted(damagedKeys, 'key')} cannot be read`;
    const detail =
      'Controls with memory are errors for steps with these keys. The log has their ids; a reset of a key makes it usable again.';
    found.push(ofService('memory_damaged', 'warning', title, detail));
  }
  if (evicts) {
    const detail =
      'Keys that were not used for longest were forgotten before their time in the last hour, because a namespace has more than SERVICE_MEMORY_KEYS keys or SERVICE_MEMORY_BYTES bytes: their limits and histories begin anew.';
    found.push(ofService('memory_forgets', 'warning', 'Controls with memory forget keys', detail));
  }
  if (volatility !== null) {
    const title = 'The store of memory may lose what it has';
    found.push(ofService('memory_volatile', 'warning', title, `${volatility}.`));
  }
  return found;
}
