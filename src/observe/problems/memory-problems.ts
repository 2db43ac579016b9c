import type { MemoryTroubles } from '../../decide/memory/memory.js';
import { counted, ofService, type Problem } from './problem.js';

/** What is wrong with the memory of controls, as the process that is asked knows it. */
export function memoryProblems({ problem, volatility, damagedKeys, isFull }: MemoryTroubles): Problem[] {
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
  if (isFull) {
    const detail =
      'Steps that need a new key were denied in the last hour, because their namespace has SERVICE_MEMORY_KEYS keys or SERVICE_MEMORY_BYTES bytes, or their agent a quarter of these keys. Keys make room when they expire; raise the bounds, or shorten windows.';
    found.push(ofService('memory_full', 'warning', 'Controls with memory have no room for new keys', detail));
  }
  if (volatility !== null) {
    const title = 'The store of memory may lose what it has';
    found.push(ofService('memory_volatile', 'warning', title, `${volatility}.`));
  }
  return found;
}
