import type { EndedSessions } from '../../src/serve/sessions/ended-sessions.js';

/** Ended sessions that no other process shares. */
export function endedHere(): Pick<EndedSessions, 'has' | 'end'> {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    async end({ id }) {
      ids.add(id);
    },
  };
}
