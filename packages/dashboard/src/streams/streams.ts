import { Code } from '@connectrpc/connect';
import { SIGNED_OUT_EVENT } from '../data/transport.js';
import { storedNamespace } from '../ui/browser/owned-storage.js';
import { createTabBus } from './browser-tab-bus.js';
import { SOURCES } from './sources.js';
import { type StreamListener, type StreamRequest, StreamTab } from './stream-tab.js';

let own: StreamTab | undefined;

function ownTab(): StreamTab {
  // Not randomUUID, which exists on secure pages only.
  const tab = new StreamTab(
    crypto.getRandomValues(new Uint32Array(4)).join(),
    createTabBus(storedNamespace()),
    SOURCES,
  );
  window.addEventListener('online', () => tab.wake());
  return tab;
}

/** Listens to a stream that all tabs of this browser share. Returns what ends it. */
export function listen(stream: StreamRequest, listener: StreamListener): () => void {
  own ??= ownTab();
  return own.subscribe(stream, {
    position: () => listener.position(),
    onAttached: (position, isLive) => listener.onAttached(position, isLive),
    onMessage: (bytes) => listener.onMessage(bytes),
    onLost: (failure) => {
      if (failure.code === Code.Unauthenticated) window.dispatchEvent(new Event(SIGNED_OUT_EVENT));
      listener.onLost(failure);
    },
  });
}
