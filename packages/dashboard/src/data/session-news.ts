const NAME = 'control-enforcement-session';
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(NAME);

/** Tells the other tabs of this browser that it was signed in or out. They share the cookie of the session. */
export function announceSessionChange(): void {
  channel?.postMessage('changed');
}

/** Calls back when another tab was signed in or out. Returns what ends it. */
export function onSessionChange(callback: () => void): () => void {
  channel?.addEventListener('message', callback);
  return () => channel?.removeEventListener('message', callback);
}
