import { type RepeatLog, reasonOf } from '../process/repeat-log.js';

/**
 * Logs events that the database can never hold. `error` says why when the database itself refused them. What a client
 * goes on sending is counted in one line per interval.
 */
export function logRefusedEvents(failures: Pick<RepeatLog, 'told'>, events: number, error?: unknown): void {
  failures.told('warn', 'refused events', 'events were dropped because the database can never hold them', {
    events,
    ...(error === undefined ? {} : { reason: reasonOf(error) }),
  });
}
