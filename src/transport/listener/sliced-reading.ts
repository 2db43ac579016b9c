import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';

/**
 * Has the HTTP/1 parser of Node.js read a socket in parts; see `Peer.sliceBytes`. Left alone it works off all that has
 * arrived at once, which may be thousands of requests, also when the connection is closed in between. To be called once
 * HTTP/1 is spoken on the socket, but not while the parser runs. Throws where Node.js does not read sockets by one
 * listener of 'data'.
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

  /** Parses what waits, as far as it may now. The parser must not be given anything while the socket is paused. */
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

  // Node.js reads the socket past its events until there is a listener of ours.
  socket.on('data', read);
}
