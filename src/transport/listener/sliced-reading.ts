import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';

/**
 * Makes the HTTP/1 parser of Node.js read a socket in parts; see `Peer.sliceBytes`. By default it processes
 * all received data without interruption, which may be thousands of requests, even if the connection is
 * closed meanwhile. Must be called after HTTP/1 was set up on the socket, but not while the parser runs.
 * Throws if Node.js does not read sockets with a single 'data' listener.
 */
export function readInSlices(socket: Socket, peer: Peer): void {
  const listeners = socket.listeners('data');
  const [parse] = listeners;
  if (listeners.length !== 1 || parse === undefined) {
    throw new Error('This version of Node.js reads HTTP connections in a way the listener does not know');
  }
  socket.removeListener('data', parse as () => void);
  let waiting: Buffer[] = [];

  function read(chunk: Buffer): void {
    if (peer.isIgnored) return;
    if (waiting.length > 0) waiting.push(chunk);
    else if (chunk.length <= peer.sliceBytes) parse?.call(socket, chunk);
    else {
      waiting.push(chunk);
      peer.isWorking = true;
      goOn();
    }
  }

  /** Parses waiting data as far as allowed. The parser must not receive data while the socket is paused. */
  function goOn(): void {
    const [chunk, ...others] = waiting;
    if (socket.destroyed || peer.isIgnored) waiting = [];
    if (chunk === undefined || waiting.length === 0) return;
    if (socket.isPaused()) {
      socket.once('resume', goOn);
      return;
    }
    const size = Math.min(chunk.length, peer.sliceBytes);
    waiting = chunk.length > size ? [chunk.subarray(size), ...others] : others;
    parse?.call(socket, chunk.subarray(0, size));
    if (waiting.length > 0) peer.nextTurn(goOn);
    else peer.isWorking = false;
  }

  // Node.js bypasses the socket's events until there is another listener.
  socket.on('data', read);
}
