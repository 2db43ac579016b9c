import type { Letter } from './stream-letters.js';
import type { TabBus } from './tab-bus.js';

/** Changes when tabs of different versions no longer understand each other; they do not share streams then. */
const BASE = 'control-enforcement-streams-1';

/**
 * The tabs of this browser that show the same namespace: what one receives is for the others as well. Browsers offer Web Locks on secure pages only; without them, each tab is by itself.
 */
export function createTabBus(namespace: string): TabBus {
  const { locks } = navigator as { readonly locks?: LockManager };
  return locks === undefined || typeof BroadcastChannel === 'undefined'
    ? aloneBus()
    : sharedBus(locks, namespace === 'default' ? BASE : `${BASE} ${namespace}`);
}

/** A tab that knows no others. */
export function aloneBus(): TabBus {
  return {
    announce: () => undefined,
    send: () => undefined,
    join: async () => undefined,
    gone: () => new Promise(() => undefined),
    elect: (onElected) => queueMicrotask(onElected),
  };
}

/** Letters over BroadcastChannel: one channel for all tabs, and one for each tab, so that none gets what others need. */
function sharedBus(locks: LockManager, name: string): TabBus {
  const channelName = (tab: string) => `${name} ${tab}`;
  const all = new BroadcastChannel(name);
  const channels = new Map<string, BroadcastChannel>();
  const channelOf = (tab: string): BroadcastChannel => {
    const known = channels.get(tab) ?? new BroadcastChannel(channelName(tab));
    channels.set(tab, known);
    return known;
  };
  return {
    announce: (letter) => all.postMessage(letter),
    send: (tab, letter) => channelOf(tab).postMessage(letter),
    async join(tab, receive) {
      const onMessage = ({ data }: MessageEvent<Letter>): void => receive(data);
      all.addEventListener('message', onMessage);
      new BroadcastChannel(channelName(tab)).addEventListener('message', onMessage);
      // Held as long as the tab exists, however it ends.
      await new Promise<void>((resolve, reject) => {
        locks
          .request(channelName(tab), () => {
            resolve();
            return new Promise<never>(() => undefined);
          })
          .catch(reject);
      });
    },
    async gone(tab, signal) {
      await locks.request(channelName(tab), { signal }, () => undefined).catch(() => undefined);
      channels.get(tab)?.close();
      channels.delete(tab);
    },
    elect(onElected, signal) {
      const lead = (): Promise<void> =>
        new Promise((resolve) => {
          if (signal.aborted) return resolve();
          signal.addEventListener('abort', () => resolve());
          onElected();
        });
      // Rejected when the signal is aborted before the tab is the leader.
      locks.request(name, { signal }, lead).catch(() => undefined);
    },
  };
}
