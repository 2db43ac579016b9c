import { afterAll, afterEach } from 'vitest';

type Close<T> = (one: T) => unknown;

/** Takes what tests open, and closes it after each of them, in the order in which it was opened. */
export function openedInTest<T>(close: Close<T>): T[] {
  const opened: T[] = [];
  afterEach(() => closeAll(opened, close));
  return opened;
}

/** The same, closed after the last test of the suite. */
export function openedInSuite<T>(close: Close<T>): T[] {
  const opened: T[] = [];
  afterAll(() => closeAll(opened, close));
  return opened;
}

async function closeAll<T>(opened: T[], close: Close<T>): Promise<void> {
  for (const one of opened.splice(0)) await close(one);
}
