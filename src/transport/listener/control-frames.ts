import type { ServerHttp2Session } from 'node:http2';
import type { ListenerLimits } from './limits.js';

/** Calls `flooded` once when a client sends more PING and SETTINGS frames within the window than allowed. */
export function watchControlFrames(
  session: ServerHttp2Session,
  limits: ListenerLimits,
  flooded: () => void,
): void {
  let windowStart = performance.now();
  let frames = 0;

  const count = () => {
    const now = performance.now();
    if (now - windowStart >= limits.http2ControlFrameWindowMs) {
      windowStart = now;
      frames = 0;
    }
    frames += 1;
    if (frames !== limits.http2MaxControlFrames + 1) return;
    session.off('ping', count);
    session.off('remoteSettings', count);
    flooded();
  };

  session.on('ping', count);
  session.on('remoteSettings', count);
}
