import type { Letter } from './stream-letters.js';

/** How the tabs of a browser find and reach each other. */
export interface TabBus {
  /** Sends a letter to all other tabs. */
  announce(letter: Letter): void;
  /** Sends a letter to one other tab. */
  send(tab: string, letter: Letter): void;
  /** Receives the letters of other tabs. Fulfilled when none is missed anymore and others see that this tab exists. */
  join(tab: string, receive: (letter: Letter) => void): Promise<void>;
  /** Fulfilled when a tab no longer exists. */
  gone(tab: string, signal: AbortSignal): Promise<void>;
  /**
   * Makes this tab the leader as soon as there is no other one. It stays the leader until the signal is aborted.
   */
  elect(onElected: () => void, signal: AbortSignal): void;
}
